import type { BonusMethod } from '../bonuses/method-names.ts';
import { bodyBytesMax } from '../bonuses/routes.ts';
import { CODES } from '../domain/codes.ts';
import { endpoint, type OperatorEndpoint } from './operator-parts.ts';
import { bodyTooLarge, errors, type Paths, type Response, success } from './parts.ts';

/** The service's bonus API, as an operator sees it. */

const CID = 'alpha-key';

const COMMON: Readonly<Record<string, Response>> = {
  400: errors(
    'The request is not as described (the field is named), or the service rejects it',
    [CODES.validation],
    'currency: must be one of USD, EUR',
  ),
  403: errors(
    'The operator is suspended, its bonus API is switched off, or the source address is not its own',
    [CODES.blocked],
    'The operator is suspended',
  ),
  '4XX': errors(
    'Any other refusal of the service, with its own status and code: 31, say, for a template past its `toTime`',
    [CODES.notFound],
    'Template not found',
  ),
  502: errors('The service failed', [CODES.system], 'The bonus service failed'),
  503: errors('Not sent: try again', [CODES.system], 'Not sent: the bonus service is away'),
  504: errors('The service did not answer', [CODES.system], 'The bonus service did not answer'),
};

const MISSING = (what: string) =>
  errors(`No such ${what}, or not of this operator`, [CODES.notFound], `No such ${what}`);

const OPEN = errors(
  'The same call was made before and its outcome is not known yet: retry later',
  [CODES.alreadyProcessed],
  'The same call was made before and is still open',
);

type BonusEndpoint = Omit<OperatorEndpoint, 'tag'> & { readonly method: BonusMethod };

function bonusEndpoint({ method, request, responses, ...texts }: BonusEndpoint) {
  const [schema, value] = request;
  return {
    post: endpoint({
      ...texts,
      tag: 'bonuses',
      request: [schema, { cid: CID, ...value }],
      responses: { ...responses, ...COMMON, 413: bodyTooLarge(bodyBytesMax(method)) },
    }),
  };
}

const TEMPLATE_FIELDS = {
  name: 'Welcome freebet',
  type: 'freebet_standart',
  stage: 3,
  fromTime: 1_795_000_000,
  toTime: 1_797_000_000,
  daysToUse: 5,
  disciplines: ['csgo'],
};

const TEMPLATE_TERMS = {
  betAmount: 5,
  betCount: 1,
  maxWin: 100,
  currency: 'USD',
  maxWinCurrency: 'USD',
  minSelection: 1,
  maxSelection: 2,
  minOdd: 1.01,
  maxOdd: 3,
};

const TEMPLATE = {
  id: 5514,
  ...TEMPLATE_FIELDS,
  isEnable: true,
  cid: CID,
  freebetData: TEMPLATE_TERMS,
  availableCountries: null,
  availableTournaments: null,
};

const { maxWinCurrency: _, ...BONUS_TERMS } = TEMPLATE_TERMS;

const BONUS = {
  id: 1243,
  templateId: TEMPLATE.id,
  name: TEMPLATE.name,
  type: TEMPLATE.type,
  userId: 'player-17',
  cid: CID,
  stage: TEMPLATE.stage,
  disciplines: TEMPLATE.disciplines,
  activationDate: null,
  endingDate: null,
  status: 'new',
  fromTime: TEMPLATE.fromTime,
  toTime: TEMPLATE.toTime,
  freebetData: { ...BONUS_TERMS, availableBetCount: 1 },
  availableCountries: null,
  availableTournaments: null,
};

const ONE_PAGE = { totalPages: 1, totalItems: 1, currentPage: 1, itemsPerPage: 100 };

export const BONUS_PATHS: Paths = {
  '/bonuses/templates': bonusEndpoint({
    method: 'templates',
    operationId: 'listTemplates',
    summary: 'List templates',
    description:
      'Own and shared templates, oldest first, 100 a page. What changed at the service outside this ' +
      'gateway may show a few minutes later.',
    request: ['TemplatesRequest', { page: 1 }],
    responses: {
      200: success('A page', 'BonusTemplates', { items: [TEMPLATE], metadata: ONE_PAGE }),
    },
  }),
  '/bonuses/template': bonusEndpoint({
    method: 'template',
    operationId: 'readTemplate',
    summary: 'Read a template',
    description: 'An own or a shared one, as the service shows it now.',
    request: ['TemplateRequest', { templateId: TEMPLATE.id }],
    responses: {
      200: success('The template', 'BonusTemplate', TEMPLATE),
      404: MISSING('template'),
    },
  }),
  '/bonuses/templates/add': bonusEndpoint({
    method: 'templates/add',
    operationId: 'createTemplate',
    summary: 'Create a template',
    description:
      'The same body is sent once: a retry gets the first answer. While the service has not ' +
      'answered (502 or 504), the gateway finds out the outcome by itself; until then 409.',
    request: ['CreateTemplateRequest', { ...TEMPLATE_FIELDS, enable: true, ...TEMPLATE_TERMS }],
    responses: { 200: success('The template', 'BonusTemplate', TEMPLATE), 409: OPEN },
  }),
  '/bonuses/player/bonuses': bonusEndpoint({
    method: 'player/bonuses',
    operationId: 'listPlayerBonuses',
    summary: "List a player's bonuses",
    description: 'A player that nobody has mentioned yet has none.',
    request: ['PlayerBonusesRequest', { userId: 'player-17', page: 1 }],
    responses: { 200: success('A page', 'PlayerBonuses', { items: [BONUS], metadata: ONE_PAGE }) },
  }),
  '/bonuses/bonus': bonusEndpoint({
    method: 'bonus',
    operationId: 'readBonus',
    summary: 'Read a bonus',
    description: "One of the operator's own players.",
    request: ['BonusRequest', { bonusId: BONUS.id }],
    responses: { 200: success('The bonus', 'PlayerBonus', BONUS), 404: MISSING('bonus') },
  }),
  '/bonuses/bonus/applyBatch': bonusEndpoint({
    method: 'bonus/applyBatch',
    operationId: 'applyBatch',
    summary: 'Issue bonuses',
    description:
      'Of an own or a shared template, to at most 1000 players, known here before or not. The same body ' +
      'is sent once; calls for a player whose outcome is still open get 409.',
    request: [
      'ApplyBatchRequest',
      {
        templateId: TEMPLATE.id,
        playersData: [
          { userId: 'player-17', currency: 'USD', betAmount: 5, betCount: 1, forceActivated: true },
        ],
      },
    ],
    responses: {
      200: success('What was issued and what was not', 'BonusBatch', {
        items: { [BONUS.id]: BONUS },
        errorItems: [],
      }),
      404: MISSING('template'),
      409: OPEN,
    },
  }),
  '/bonuses/bonus/revokeBatch': bonusEndpoint({
    method: 'bonus/revokeBatch',
    operationId: 'revokeBatch',
    summary: 'Revoke bonuses',
    description: 'Ids that are not of the operator, or not there, are entries of `errorItems`.',
    request: ['RevokeBatchRequest', { bonusesIds: [BONUS.id, 7] }],
    responses: {
      200: success('What was revoked and what was not', 'BonusBatch', {
        items: { [BONUS.id]: { ...BONUS, status: 'revoked' } },
        errorItems: [{ bonusId: 7, code: CODES.notFound, message: 'No such bonus' }],
      }),
    },
  }),
};
