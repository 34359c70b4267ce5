import { unreachable } from '../../../src/domain/unreachable.ts';
import { objectText } from '../../../src/protocol/callback-bodies.ts';
import { jsonString } from '../../../src/protocol/json.ts';
import { failure, type WireAnswer } from '../wallet/answers.ts';
import { BONUS_CODES, type BonusBooks, type BonusCode } from './books.ts';
import { bonusText, type PlayerBonus, templateText } from './records.ts';
import type { BonusCall } from './requests.ts';

/** The page size in the service's samples. */
const ITEMS_PER_PAGE = 100;

export type TemplateOrder = 'oldestFirst' | 'newestFirst';

const MESSAGES: Readonly<Record<BonusCode, string>> = {
  [BONUS_CODES.templateNotFound]: 'Template not found',
  [BONUS_CODES.templateExpired]: 'Template is expired',
  [BONUS_CODES.bonusNotFound]: 'Bonus not found',
  [BONUS_CODES.templateNotActive]: 'Template is not active',
  [BONUS_CODES.alreadyIssued]: 'Bonus is already activated for this user',
  [BONUS_CODES.alreadyRevoked]: 'Bonus is already revoked',
  [BONUS_CODES.notRevocable]: 'Bonus cannot be revoked',
};

/** Executes a call and answers it (service protocol, Bonus API). */
export function answerTo(call: BonusCall, books: BonusBooks, order: TemplateOrder): WireAnswer {
  const { cid } = call;
  switch (call.method) {
    case 'templates': {
      const own = [...books.templates.values()].filter((template) => template.cid === cid);
      const ordered = order === 'oldestFirst' ? own : own.reverse();
      return pageOf(ordered, call.page, templateText);
    }
    case 'template': {
      const template = books.template(cid, call.templateId);
      if (template === undefined) return refusal(BONUS_CODES.templateNotFound);
      return good(templateText(template));
    }
    case 'templates/add':
      return good(templateText(books.addTemplate(cid, call.fields)));
    case 'player/bonuses': {
      const isWanted = (bonus: PlayerBonus) =>
        bonus.template.cid === cid && bonus.userId === call.userId;
      return pageOf(books.bonuses().filter(isWanted), call.page, bonusText);
    }
    case 'bonus': {
      const bonus = books.bonus(cid, call.bonusId);
      return bonus === undefined ? refusal(BONUS_CODES.bonusNotFound) : good(bonusText(bonus));
    }
    case 'bonus/applyBatch': {
      const result = books.apply(cid, call.templateId, call.players);
      if (result.kind === 'refused') return refusal(result.code);
      const errors = result.refused.map(({ userId, code }) =>
        errorText('userId', jsonString(userId), code),
      );
      return batch(result.done, errors);
    }
    case 'bonus/revokeBatch': {
      const { done, refused } = books.revoke(cid, call.bonusIds);
      const errors = refused.map(({ bonusId, code }) =>
        errorText('bonusId', String(bonusId), code),
      );
      return batch(done, errors);
    }
  }
  return unreachable(call);
}

function good(body: string): WireAnswer {
  return { status: 200, body };
}

/** 404 for what does not exist, 400 for what exists but cannot be used. */
function refusal(code: BonusCode): WireAnswer {
  const isMissing = code === BONUS_CODES.templateNotFound || code === BONUS_CODES.bonusNotFound;
  return { ...failure(code, MESSAGES[code]), status: isMissing ? 404 : 400 };
}

/** A page after the last one is empty. */
function pageOf<T>(all: readonly T[], page: number, text: (item: T) => string): WireAnswer {
  const start = (page - 1) * ITEMS_PER_PAGE;
  const items = all.slice(start, start + ITEMS_PER_PAGE).map(text);
  const metadata = objectText({
    totalPages: String(Math.ceil(all.length / ITEMS_PER_PAGE)),
    totalItems: String(all.length),
    currentPage: String(page),
    itemsPerPage: String(ITEMS_PER_PAGE),
  });
  return good(objectText({ items: `[${items.join(',')}]`, metadata }));
}

function batch(done: readonly PlayerBonus[], errors: readonly string[]): WireAnswer {
  const items = Object.fromEntries(done.map((bonus) => [String(bonus.id), bonusText(bonus)]));
  return good(objectText({ items: objectText(items), errorItems: `[${errors.join(',')}]` }));
}

function errorText(name: 'userId' | 'bonusId', id: string, code: BonusCode): string {
  return objectText({ [name]: id, code: String(code), message: jsonString(MESSAGES[code]) });
}
