import type { Bug } from './bug.ts';

/** Bugs that show only in odd scenes, which break assumptions of the first histories. */
export const ODD_BUGS: readonly Bug[] = [
  {
    name: 'unseen-holds-nothing',
    what: 'a bet whose place was never seen here counts as one without a result',
    changes: [
      {
        file: 'src/domain/bet.ts',
        find: "kind === 'none' && bet.place.kind !== 'unseen';",
        put: "kind === 'none';",
      },
    ],
  },
  {
    name: 'unseen-not-fenced',
    what: 'the rollback of a bet that is not known yet is sent, and not kept',
    changes: [
      {
        file: 'src/callbacks/rollback.ts',
        find: "    case 'send':\n",
        put: "    case 'send':\n      if (bet.version === 0) return done(transactionId, transactionTime, 'not_sent', undefined);\n",
      },
    ],
  },
  {
    name: 'unknown-code-declines',
    what: 'a code that the dialect lists in unknownCodes counts as a decline',
    changes: [
      {
        file: 'src/wallets/adapters/dialect.ts',
        find: '    [...said, ...meant].some((one) => dialect.unknownCodes?.includes(one) === true)',
        put: '    said.includes(-1)',
      },
    ],
  },
  {
    name: 'overtaken-retried',
    what: 'a dead letter is sent once more, or counts once resolved, although a later result of its bet has passed it',
    changes: [
      {
        file: 'src/store/deliveries/passed.ts',
        find: "WHEN 'rollback' THEN false",
        put: "WHEN 'rollback' THEN false WHEN 'settle' THEN false WHEN 'unsettle' THEN false",
      },
    ],
  },
  {
    name: 'hold-ignored',
    what: 'a delivery that a person holds is delivered nevertheless',
    changes: [
      {
        file: 'src/store/deliveries/statements.ts',
        find: 'WHERE h.operator_id = :operator_id AND h.hold_since IS NOT NULL)',
        put: 'WHERE h.operator_id = :operator_id AND h.hold_since IS NULL AND false)',
      },
      {
        file: 'src/store/deliveries/held-time.ts',
        find: "'SELECT operator_id FROM operator_holds WHERE hold_since IS NOT NULL'",
        put: "'SELECT operator_id FROM operator_holds WHERE false'",
      },
    ],
  },
  {
    name: 'any-wallet-is-asked',
    what: 'a bet in the books of the earlier wallet is sent to the new one',
    changes: [
      {
        file: 'src/engine/wallet-generation.ts',
        find: '  if (operator === undefined) return false;\n  const configured',
        put: "  if (operator?.id !== '') return false;\n  const configured",
      },
    ],
  },
  {
    name: 'any-earlier-request',
    what: 'a result that comes back after others carries the requestId of its first time',
    changes: [
      {
        file: 'src/engine/first-request.ts',
        find: '      if (earlier.isConcluded) return { ...row, endsAt: earlier.id };',
        put: '',
      },
      {
        file: 'src/engine/first-request.ts',
        find: '    } else if (!earlier.isRefused) return { ...row, endsAt: earlier.id };',
        put: '    }',
      },
    ],
  },
  {
    name: 'only-the-last-is-late',
    what: 'of several results without an answer only the last counts as one that may take effect late',
    changes: [
      {
        file: 'src/domain/bet.ts',
        find: "sameLate(before.operation, attempted)) return attempted;\n  return { kind: 'several' };",
        put: 'sameLate(before.operation, attempted)) return attempted;\n  return attempted;',
      },
    ],
  },
  {
    name: 'cashout-of-first-session',
    what: 'a cashout carries the token that the bet was placed with',
    changes: [
      {
        file: 'src/callbacks/settle.ts',
        find: '  return { cashoutToken: lookup.session.operatorToken };',
        put: '  return { cashoutToken: undefined };',
      },
    ],
  },
  {
    name: 'old-answers-believed',
    what: 'a Redis that comes back is trusted, however old its data are',
    changes: [
      {
        file: 'src/redis/answer-cache.ts',
        find: '    accelerator.onReturn(() => this.#startRaising());',
        put: '    accelerator.onReturn(() => undefined);',
      },
    ],
  },
  {
    name: 'held-repeat-sent',
    what: 'a result of unknown outcome is sent again to a wallet that pays repeats again',
    changes: [
      {
        file: 'src/callbacks/result-operation.ts',
        find: "  if (wallet.callerDialect.holdUnknownRepeats && bet.settlement.kind === 'unknown') {",
        put: '  if (wallet.callerDialect.holdUnknownRepeats && callback.deadline.hasEnded) {',
      },
    ],
  },
  {
    name: 'resolved-is-over',
    what: 'once a person has resolved a dead letter, nothing that comes after it is confirmed',
    changes: [
      {
        file: 'src/store/deliveries/resolution.ts',
        find: 'settlement_time = d.transaction_time, standing',
        put: 'settlement_time = d.transaction_time, confirm_left = 0, confirm_at = NULL, standing',
      },
    ],
  },
];
