import { OPERATOR_USER } from '../../domain/operator-user.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

const REGISTRATION = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const COUNTRY = /^[A-Z]{2}$/;

type Fields = Readonly<Record<string, unknown>>;

async function profileOf(trial: Trial): Promise<Fields | undefined> {
  const recorded = await trial.profile();
  return trial.accepts(recorded) ? fieldsOf(recorded) : undefined;
}

function fieldsOf({ answer }: RecordedCall): Fields {
  return answer.kind === 'accepted' ? (answer.document?.value ?? {}) : {};
}

const usual = { rule: RULES.profile, money: false, meaning: 'costs_money' } as const;

export const profileCases: readonly Case[] = group('profile', usual, [
  {
    id: 'profile-user',
    title: "The profile has the player's id",
    expected:
      'userId, a text of 1 to 64 of A-Z a-z 0-9 . _ ~ -, is the player the token was given to',
    advice:
      'Put the id of the player whom the token was given to into userId, as a text of 1 to 64 of ' +
      'A-Z a-z 0-9 . _ ~ -: the gateway takes no other profile.',
    run: async (trial) => {
      const profile = await profileOf(trial);
      if (profile === undefined) return;
      const { userId } = trial.player;
      if (profile.userId !== userId) trial.fail(`userId is not the text ${userId}`);
      else if (!OPERATOR_USER.test(userId))
        trial.fail(`the gateway takes no userId like ${userId}`);
    },
  },
  {
    id: 'profile-currency',
    title: "The profile names the token's currency",
    rule: RULES.currency,
    expected: 'currency, a text of 3 to 5 characters, is the one the token was given for',
    advice: 'Answer the currency that the token was given for: another one ends the session.',
    run: async (trial) => {
      const profile = await profileOf(trial);
      if (profile === undefined || profile.currency === trial.player.currency) return;
      trial.fail(`currency is not ${trial.player.currency}`);
    },
  },
  {
    id: 'profile-currencies',
    title: "The profile lists the player's currencies",
    expected: 'currencies is a list of texts that holds the active currency',
    meaning: 'cosmetic',
    advice:
      'Make currencies a list of texts, with the active currency among them: without a list the ' +
      'gateway answers the active currency alone.',
    run: async (trial) => {
      const profile = await profileOf(trial);
      if (profile === undefined) return;
      const { currencies } = profile;
      const list: readonly unknown[] = Array.isArray(currencies) ? currencies : [undefined];
      if (!list.every((one) => typeof one === 'string')) {
        trial.fail('currencies is not a list of texts');
      } else if (!list.some((one) => one === profile.currency)) {
        trial.fail('currencies does not hold the active currency');
      }
    },
  },
  {
    id: 'profile-constant',
    title: 'The profile stays the same',
    expected: 'two profiles name the same userId and currency',
    advice: 'Give one person one userId for good: another one is another player to the service.',
    run: async (trial) => {
      const first = await profileOf(trial);
      const second = await profileOf(trial);
      if (first?.userId !== second?.userId) trial.fail('userId changed between two profiles');
      if (first?.currency !== second?.currency) trial.fail('currency changed between two profiles');
    },
  },
  {
    id: 'profile-token-unknown',
    title: 'A profile for an unknown token is refused',
    rule: RULES.token,
    expected: '400 with code 3 (or 4) to a token that looks like a real one',
    meaning: 'lets_somebody_in',
    advice: 'Look the token up, and answer 400 with code 3 where it was never given out.',
    run: async (trial) => {
      trial.refuses(await trial.profile(trial.unknownToken()), [3, 4]);
    },
  },
  {
    id: 'profile-is-test',
    title: 'isTest is true or false',
    expected: 'isTest is a boolean, or missing',
    meaning: 'cosmetic',
    advice: 'Answer isTest as a JSON boolean, or leave it out, as the gateway does with any other.',
    run: async (trial) => {
      const profile = await profileOf(trial);
      const kind = typeof profile?.isTest;
      if (kind !== 'boolean' && kind !== 'undefined') trial.fail(`isTest is a ${kind}`);
    },
  },
  {
    id: 'profile-custom-fields',
    title: 'customFields have their documented form',
    expected: 'each field that is there has its documented type and format',
    meaning: 'cosmetic',
    advice:
      'Give each member of customFields its documented type and format, or leave it out: of what ' +
      'is no object nothing reaches the service.',
    run: async (trial) => {
      const profile = await profileOf(trial);
      const custom: unknown = profile?.customFields;
      if (custom === undefined) return;
      if (!isFields(custom)) return trial.fail('customFields is not an object');
      for (const [name, isProper] of Object.entries(CUSTOM_FIELDS)) {
        const value = custom[name];
        if (value === undefined || value === null || isProper(value)) continue;
        trial.warn(`customFields.${name} has another form than documented`, 'cosmetic');
      }
    },
  },
]);

const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isNumber = (value: unknown) => typeof value === 'number';
const isText = (value: unknown) => typeof value === 'string';

const CUSTOM_FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  firstName: isText,
  lastName: isText,
  nickname: isText,
  email: isText,
  gender: matches(/^(female|male|no data)$/),
  isCashOutAllowed: isBoolean,
  isVerified: isBoolean,
  userCountry: matches(COUNTRY),
  userSessionCountry: matches(COUNTRY),
  registrationDate: matches(REGISTRATION),
  percentMargin: isNumber,
  avgBet: isNumber,
  operatorUser: matches(OPERATOR_USER),
};

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
