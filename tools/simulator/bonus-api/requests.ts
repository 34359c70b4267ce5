import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import { unreachable } from '../../../src/domain/unreachable.ts';
import { amount, requiredText, requiredWord } from '../../../src/protocol/fields.ts';
import { type JsonDocument, JsonError } from '../../../src/protocol/json.ts';
import type { PlayerGrant, TemplateFields } from './records.ts';

/** A partner's call with everything that its method needs, read without rounding a number. */
export type BonusCall = { readonly cid: string } & (
  | { readonly method: 'templates'; readonly page: number }
  | { readonly method: 'template'; readonly templateId: number }
  | { readonly method: 'templates/add'; readonly fields: TemplateFields }
  | { readonly method: 'player/bonuses'; readonly userId: string; readonly page: number }
  | { readonly method: 'bonus'; readonly bonusId: number }
  | {
      readonly method: 'bonus/applyBatch';
      readonly templateId: number;
      readonly players: readonly PlayerGrant[];
    }
  | { readonly method: 'bonus/revokeBatch'; readonly bonusIds: readonly number[] }
);

const ANY_TEXT = { lengthMin: 1, lengthMax: 255 };
const USER_ID = { lengthMin: 1, lengthMax: 64 };
const CURRENCY = { lengthMin: 3, lengthMax: 5 };
const COUNTRY = /^[A-Za-z]{2}$/;

const BET_COUNT_MAX = 1000;
const DAYS_TO_USE_MAX = 201;
const STAGE_MAX = 3;
const PLAYERS_MAX = 1000;
const ANY_MAX = Number.MAX_SAFE_INTEGER;

/** Reads the body of a call. @throws JsonError naming the member that is missing or invalid */
export function readBonusCall(method: BonusMethod, document: JsonDocument): BonusCall {
  const cid = requiredText(document, 'cid', ANY_TEXT);
  switch (method) {
    case 'templates':
      return { method, cid, page: page(document) };
    case 'template':
      return { method, cid, templateId: integer(document, 'templateId', 0, ANY_MAX) };
    case 'templates/add':
      return { method, cid, fields: templateFields(document) };
    case 'player/bonuses':
      return {
        method,
        cid,
        userId: requiredText(document, 'userId', USER_ID),
        page: page(document),
      };
    case 'bonus':
      return { method, cid, bonusId: integer(document, 'bonusId', 0, ANY_MAX) };
    case 'bonus/applyBatch': {
      const templateId = integer(document, 'templateId', 0, ANY_MAX);
      return { method, cid, templateId, players: players(document) };
    }
    case 'bonus/revokeBatch':
      return { method, cid, bonusIds: integers(document, 'bonusesIds') };
  }
  return unreachable(method);
}

function templateFields(document: JsonDocument): TemplateFields {
  requiredWord(document, 'type', ['freebet_standart']);
  const fromTime = integer(document, 'fromTime', 0, ANY_MAX);
  const toTime = integer(document, 'toTime', 0, ANY_MAX);
  if (toTime < fromTime) throw new JsonError('must not be before fromTime', 'toTime');
  return {
    name: requiredText(document, 'name', ANY_TEXT),
    enable: boolean(document, 'enable'),
    stage: integer(document, 'stage', 1, STAGE_MAX),
    fromTime,
    toTime,
    daysToUse: integer(document, 'daysToUse', 1, DAYS_TO_USE_MAX),
    betCount: integer(document, 'betCount', 1, BET_COUNT_MAX),
    minSelection: integer(document, 'minSelection', 0, ANY_MAX),
    maxSelection: integer(document, 'maxSelection', 0, ANY_MAX),
    minOdd: amount(document, 'minOdd'),
    maxOdd: amount(document, 'maxOdd'),
    betAmount: amount(document, 'betAmount'),
    maxWin: amount(document, 'maxWin'),
    currency: requiredText(document, 'currency', CURRENCY),
    maxWinCurrency: isGiven(document, 'maxWinCurrency')
      ? requiredText(document, 'maxWinCurrency', CURRENCY)
      : 'USD',
    disciplines: texts(document, 'disciplines'),
    availableCountries: countries(document),
    availableTournaments: isGiven(document, 'availableTournaments')
      ? texts(document, 'availableTournaments')
      : null,
  };
}

function players(document: JsonDocument): readonly PlayerGrant[] {
  const items = document.items('playersData');
  if (items === undefined) throw new JsonError('must be a list', 'playersData');
  if (items.length < 1 || items.length > PLAYERS_MAX) {
    throw new JsonError(`must have 1 to ${PLAYERS_MAX} players`, 'playersData');
  }
  return items.map((item, at) => {
    if (item === undefined) throw new JsonError('must be an object', `playersData.${at}`);
    return within(`playersData.${at}`, () => grant(item));
  });
}

function grant(item: JsonDocument): PlayerGrant {
  return {
    userId: requiredText(item, 'userId', USER_ID),
    currency: requiredText(item, 'currency', CURRENCY),
    betAmount: amount(item, 'betAmount'),
    betCount: integer(item, 'betCount', 1, BET_COUNT_MAX),
    forceActivated: isGiven(item, 'forceActivated') && boolean(item, 'forceActivated'),
  };
}

/** Puts the outer member's path before the inner one's name. */
function within<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new JsonError(error.message, `${path}.${error.field}`, { cause: error });
  }
}

function page(document: JsonDocument): number {
  return isGiven(document, 'page') ? integer(document, 'page', 1, ANY_MAX) : 1;
}

function countries(document: JsonDocument): readonly string[] | null {
  if (!isGiven(document, 'availableCountries')) return null;
  const found = texts(document, 'availableCountries');
  const wrong = found.findIndex((country) => !COUNTRY.test(country));
  if (wrong >= 0) throw new JsonError('must have two letters', `availableCountries.${wrong}`);
  return found;
}

function isGiven(document: JsonDocument, name: string): boolean {
  return document.has(name) && document.value[name] !== null;
}

function boolean(document: JsonDocument, name: string): boolean {
  const value = document.value[name];
  if (typeof value !== 'boolean') throw new JsonError('must be true or false', name);
  return value;
}

function integer(document: JsonDocument, name: string, min: number, max: number): number {
  return wholeNumber(document.value[name], name, min, max);
}

function integers(document: JsonDocument, name: string): readonly number[] {
  return list(document, name).map((value, at) => wholeNumber(value, `${name}.${at}`, 0, ANY_MAX));
}

function texts(document: JsonDocument, name: string): readonly string[] {
  return list(document, name).map((value, at) => {
    if (typeof value !== 'string') throw new JsonError('must be a string', `${name}.${at}`);
    return value;
  });
}

function list(document: JsonDocument, name: string): readonly unknown[] {
  const value = document.value[name];
  if (!Array.isArray(value)) throw new JsonError('must be a list', name);
  return value;
}

function wholeNumber(value: unknown, name: string, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    const range = max === ANY_MAX ? `of ${min} or more` : `from ${min} to ${max}`;
    throw new JsonError(`must be a whole number ${range}`, name);
  }
  return value;
}
