import { describe, expect, it } from 'vitest';
import { alphaProblems, loadAlpha } from '../support/folder.ts';

const dialectOf = (dialect: string) => loadAlpha('', `  dialect: ${dialect}`).wallet.dialect;

describe('a dialect', () => {
  it('is off by default, item by item', () => {
    expect(loadAlpha().wallet.dialect).toEqual({
      paths: { profile: '/user/profile', balance: '/user/balance', bet: '/payment/bet' },
      headers: {},
      legacySign: false,
      alwaysSendToken: false,
      successStatuses: [200],
      errorStatuses: {},
      codeField: 'code',
      mapCodes: {},
      unknownCodes: [],
      echo: 'check',
      emptyOk: false,
      rollbackConfirmedBy: [],
      stableRequestId: false,
      unknownRepeats: 'send',
      updates: 'send',
    });
  });

  it('takes every item', () => {
    const dialect = dialectOf(
      '{ paths: { profile: /users/profile }, headers: { X-Site: alpha }, legacySign: true, ' +
        'alwaysSendToken: true, successStatuses: [200, 201], errorStatuses: { 401: 3, 404: body }, ' +
        'codeField: errorCode, okCodes: [0], mapCodes: { place: { 9: 8 } }, unknownCodes: [2], ' +
        'echo: ignore, emptyOk: true, rollbackConfirmedBy: [5], stableRequestId: true, ' +
        'unknownRepeats: hold, updates: skip }',
    );
    expect(dialect).toEqual({
      paths: { profile: '/users/profile', balance: '/user/balance', bet: '/payment/bet' },
      headers: { 'X-Site': 'alpha' },
      legacySign: true,
      alwaysSendToken: true,
      successStatuses: [200, 201],
      errorStatuses: { 401: 3, 404: 'body' },
      codeField: 'errorCode',
      okCodes: [0],
      mapCodes: { place: { 9: 8 } },
      unknownCodes: [2],
      echo: 'ignore',
      emptyOk: true,
      rollbackConfirmedBy: [5],
      stableRequestId: true,
      unknownRepeats: 'hold',
      updates: 'skip',
    });
  });

  it.each([
    ['{ errorStatuses: { 500: 5 } }', 'errorStatuses.500: must be an HTTP status from 200 to 499'],
    ['{ errorStatuses: { 503: 3 } }', 'errorStatuses.503: must be an HTTP status from 200 to 499'],
    ['{ mapCodes: { place: { 100: 7 } } }', 'mapCodes.place.100: cannot be mapped'],
    ['{ okCodes: [100] }', 'okCodes[0]: must not be 100'],
    ['{ rollbackConfirmedBy: [100] }', 'rollbackConfirmedBy[0]: must not be 100'],
    ['{ successStatuses: [500] }', 'successStatuses[0]: must be at most 299'],
  ])('cannot turn a failure of the wallet into a decline: %s (I2)', (dialect, reason) => {
    expect(alphaProblems('', `  dialect: ${dialect}`)).toEqual([
      expect.stringContaining(`wallet.dialect.${reason}`),
    ]);
  });

  it.each([
    ['{ errorStatuses: { 200: 5 } }', 'errorStatuses.200: is also among successStatuses'],
    ['{ successStatuses: [] }', 'successStatuses: needs at least 1 entry'],
    ['{ paths: { bet: bets } }', 'paths.bet: must begin with /'],
    ['{ paths: { bet: /bets?x=1 } }', 'paths.bet: must begin with / and have no query'],
    [
      '{ paths: { bet: "/ставка" } }',
      'paths.bet: must begin with / and have no query and printable',
    ],
    ['{ paths: { bet: "/bet\\x01s" } }', 'paths.bet: must begin with /'],
    ['{ headers: { x-sign-jws: x } }', 'headers.x-sign-jws: is set by the gateway itself'],
    ['{ headers: { Content-Length: "1" } }', 'headers.Content-Length: is set by the gateway'],
    ['{ headers: { "X Y": z } }', 'headers["X Y"]: must be a header name'],
    ['{ headers: { X: "a\\r\\nY: b" } }', 'headers.X: must be printable ASCII'],
    ['{ headers: { X: } }', 'headers.X: is missing: add it'],
    ['{ mapCodes: { bet: {} } }', 'mapCodes.bet: is not a known key'],
    ['{ mapCodes: { place: { x: 1 } } }', "mapCodes.place.x: must be a wallet's code"],
    ['{ codeField: error.code }', 'codeField: must be the name of a member of the body itself'],
    ['{ codeField: "errors[0]" }', 'codeField: must be the name of a member of the body itself'],
    ['{ codeField: $/error/code }', 'codeField: must be the name of a member of the body itself'],
    ['{ codeField: " " }', 'codeField: must not be empty'],
    ['{ echo: maybe }', 'echo: must be one of check, ignore'],
    ['{ updates: skipp }', 'updates: must be one of send, skip'],
  ])('refuses %s', (dialect, reason) => {
    expect(alphaProblems('', `  dialect: ${dialect}`)).toEqual([
      expect.stringContaining(`wallet.dialect.${reason}`),
    ]);
  });
});
