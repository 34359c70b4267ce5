import type { Bug } from './bug.ts';
import { ODD_BUGS } from './odd-bugs.ts';

export const BUGS: readonly Bug[] = [
  ...ODD_BUGS,
  {
    name: 'send-before-commit',
    what: 'the wallet is called before the intent is committed',
    changes: [
      {
        file: 'src/engine/attempt.ts',
        find: '  const begun = await inTime(beginWithinMs, beginOrTakeBack, (late) =>',
        put: '  const early = attempt.call(permit.sending);\n  const begun = await inTime(beginWithinMs, beginOrTakeBack, (late) =>',
      },
      {
        file: 'src/engine/attempt.ts',
        find: 'await tryOnce(engine, attempt, begun.operationId, permit)',
        put: 'await tryOnce(engine, { ...attempt, call: () => early }, begun.operationId, permit)',
      },
    ],
  },
  {
    name: 'acknowledge-before-commit',
    what: 'the service is answered before the outcome is committed',
    changes: [
      {
        file: 'src/engine/attempt.ts',
        find: '  let committedInTime = false;\n  try {',
        put: "  if (deadline !== undefined) {\n    void finished.then(() => engine.changes.changed(transactionId), () => undefined);\n    return { kind: 'attempted', sent, concluded, committedInTime: true };\n  }\n  let committedInTime = false;\n  try {",
      },
    ],
  },
  {
    name: 'deduplicate-by-request-id',
    what: 'the same result under a new requestId counts as another result',
    changes: [
      {
        file: 'src/domain/decide.ts',
        find: '    repeated: () => stands,',
        put: '    repeated: () => undefined,',
      },
    ],
  },
  {
    name: 'no-tombstone',
    what: 'a place after the rollback of its bet is not refused',
    changes: [
      {
        file: 'src/domain/decide.ts',
        find: "  if (bet.rollback.kind !== 'none') return { kind: 'fenced' };\n",
        put: '',
      },
    ],
  },
  {
    name: 'decline-on-timeout',
    what: 'a place without an answer counts as declined',
    changes: [
      {
        file: 'src/domain/conclude.ts',
        find: "      return { outcome: 'unknown', answer: undefined, change: { place: { kind: 'unknown' } } };",
        put: "      return {\n        outcome: 'declined',\n        answer: { kind: 'refused', code: 7, message: 'no answer' },\n        change: { place: { kind: 'declined', code: 7, message: 'no answer' } },\n      };",
      },
    ],
  },
  {
    name: 'code-8-declines',
    what: 'code 8 to a place counts as a decline, although the wallet may have debited',
    changes: [
      {
        file: 'src/domain/codes.ts',
        find: '  CODES.alreadyProcessed,\n  CODES.timeout,\n  CODES.system,\n];',
        put: '  CODES.system,\n];',
      },
    ],
  },
  {
    name: 'lease-ignored',
    what: 'an attempt under way does not keep others from its bet',
    changes: [
      {
        file: 'src/store/bets/lease.ts',
        find: 'export const LEASE_SECONDS = 15;',
        put: 'export const LEASE_SECONDS = 0;',
      },
    ],
  },
  {
    name: 'confirmation-not-repeated',
    what: 'the current result is confirmed again only once, not twice',
    changes: [
      {
        file: 'src/domain/confirm.ts',
        find: 'export const CONFIRMATIONS = 2;',
        put: 'export const CONFIRMATIONS = 1;',
      },
    ],
  },
  {
    name: 'never-confirmed',
    what: 'the current result is never confirmed again',
    changes: [
      {
        file: 'src/domain/confirm.ts',
        find: "  if (late === undefined) return { kind: 'skip' };",
        put: "  if (late !== null) return { kind: 'skip' };",
      },
    ],
  },
  {
    name: 'stale-read',
    what: 'a decision is committed although the bet has changed since it was read',
    changes: [
      {
        file: 'src/store/bets/commit-statements.ts',
        find: 'AND b.version = i.version AND',
        put: 'AND',
      },
    ],
  },
  {
    name: 'written-too-late',
    what: 'an outcome that is written after its caller was answered 100 counts as answered',
    changes: [
      {
        file: 'src/store/bets/locked-row.ts',
        find: 'coalesce(clock_timestamp() >= g.before, false) AS is_late',
        put: 'false AS is_late',
      },
      {
        file: 'src/engine/attempt.ts',
        find: '      void correctAnswer(engine, answered, finished);',
        put: '      void answered;',
      },
    ],
  },
  {
    name: 'lost-supersede',
    what: 'a promise that a later operation made obsolete is delivered nevertheless',
    changes: [
      {
        file: 'src/store/bets/commit-statements.ts',
        find: 'AND (d.id = ANY (g.supersedes::bigint[])',
        put: 'AND (d.id = ANY (g.supersedes::bigint[]) AND false',
      },
    ],
  },
  {
    name: 'unsettle-forgets-the-wallet',
    what: 'an unsettle only cancels what is queued, whatever the wallet may hold',
    changes: [
      {
        file: 'src/domain/decide.ts',
        find: "kind: holdsNoResult(bet) ? 'nothingToSend' : 'takeOver',",
        put: "kind: 'nothingToSend',",
      },
    ],
  },
  {
    name: 'breaker-counts-declines',
    what: 'proper refusals open the breaker',
    changes: [
      {
        file: 'src/wallets/health.ts',
        find: "  if (answer.kind !== 'notSent') return 'healthy';",
        put: "  if (answer.kind === 'declined') return 'faulty';\n  if (answer.kind !== 'notSent') return 'healthy';",
      },
    ],
  },
  {
    name: 'out-of-order',
    what: 'promised results of a bet go out in any order',
    changes: [
      {
        file: 'src/store/deliveries/statements.ts',
        find: "AND e.operation <> 'update' AND e.id - d.id < 0 OFFSET 0))`;",
        put: "AND e.operation <> 'update' AND e.id < 0 OFFSET 0))`;",
      },
      {
        file: 'src/store/deliveries/statements.ts',
        find: "ORDER BY transaction_id, operation = 'update', id",
        put: "ORDER BY transaction_id, operation = 'update', id DESC",
      },
    ],
  },
  {
    name: 'forgotten-promise',
    what: 'a settle that is taken over is answered 200 and not stored',
    changes: [
      {
        file: 'src/store/bets/commit-statements.ts',
        find: 'WHERE i.promised IS NOT NULL',
        put: "WHERE i.promised IS NOT NULL AND i.promised_state <> 'pending'",
      },
    ],
  },
  {
    name: 'nobody-rolls-back',
    what: 'a place answered 100 that the service forgets is forgotten here too',
    changes: [
      {
        file: 'src/store/deliveries/statements.ts',
        find: '     AND (b.created_at <',
        put: '     AND false AND (b.created_at <',
      },
    ],
  },
  {
    name: 'new-request-id',
    what: 'a wallet that keys on requestId gets a repeat under a new one',
    changes: [
      {
        file: 'src/engine/first-request.ts',
        find: '  return first && requestOf(first);',
        put: '  return first && undefined;',
      },
    ],
  },
  {
    name: 'overtaken-update',
    what: 'an update is delivered although a later one has overtaken it',
    changes: [
      {
        file: 'src/store/deliveries/statements.ts',
        find: "WHEN d.operation = 'update' THEN b.rollback <> 'none' OR",
        put: "WHEN d.operation = 'update' THEN false AND b.rollback <> 'none' OR false AND",
      },
      {
        file: 'src/domain/decide.ts',
        find: "    .filter((delivery) => delivery.operation === 'update')\n    .map((delivery) => delivery.id);\n  return { kind: 'send', supersedes: older };",
        put: "    .filter(() => false)\n    .map((delivery) => delivery.id);\n  return { kind: 'send', supersedes: older };",
      },
    ],
  },
  {
    name: 'rounded-amounts',
    what: 'amounts that differ by cents count as the same',
    changes: [
      {
        file: 'src/domain/amount.ts',
        find: '  return a === b || compareAmounts(a, b) === 0;',
        put: '  return a === b || Math.round(Number(a)) === Math.round(Number(b));',
      },
    ],
  },
  {
    name: 'lost-result-is-told',
    what: 'a settle that the wallet left without an answer is answered 200',
    changes: [
      {
        file: 'src/domain/conclude.ts',
        find: "    case 'unknown':\n      return unknown;",
        put: "    case 'unknown': {\n      const transactionTime = new Date().toISOString();\n      const settlement = settlementOf(attempted, transactionTime);\n      return { outcome: 'accepted', answer: { kind: 'accepted', transactionTime }, change: { settlement } };\n    }",
      },
    ],
  },
  {
    name: 'books-keep-the-payout',
    what: 'a rolled back bet keeps its payout in the books',
    changes: [
      {
        file: 'src/domain/movements.ts',
        find: '  return [...reversed, movement(booked',
        put: '  return [movement(booked',
      },
    ],
  },
  {
    name: 'books-read-ahead',
    what: 'the bookkeeper skips what is still being committed',
    changes: [
      {
        file: 'src/store/books/read-statements.ts',
        find: 'AND a.written_in < journal_written_in(pg_snapshot_xmin(pg_current_snapshot()))',
        put: '',
      },
    ],
  },
  {
    name: 'undone-is-lost',
    what: 'a statement that PostgreSQL rolled back because of another transaction is not repeated',
    changes: [
      {
        file: 'src/store/database.ts',
        find: "        if (!(error instanceof DatabaseError) || !isUndone(error.code ?? '')) throw error;",
        put: '        if (error !== undefined) throw error;',
      },
    ],
  },
];
