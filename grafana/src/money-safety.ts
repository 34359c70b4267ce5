import { board } from './board.ts';
import { ranking, series, stat } from './panels.ts';
import { CHOSEN, deliveries, orZero, orZeroByWorkers, perSecond } from './promql.ts';

const HOUR = '[1h]';
const DEAD_ROLLBACKS = `max by (operator) (gateway_deliveries{${CHOSEN}, state="dead", operation="rollback"})`;
const UNRESOLVED = `max by (operator) (gateway_unresolved_bets{${CHOSEN}})`;
const UNKNOWN_RESULTS = `max by (operator) (gateway_unknown_results{${CHOSEN}})`;

const DIFFERENCES = `max by (operator, kind) (gateway_reconciliation_differences{${CHOSEN}})`;

/** Where money may be in the wrong place, and whose it is. */
export const moneySafety = board({
  name: 'money-safety',
  title: 'Wagergate / Money safety',
  why: 'Who is losing money? Rollbacks and their reasons, outcomes that nobody knows, contradictions, repeats.',
  operators: 'any',
  rows: {
    'At a glance': [
      stat({
        title: 'Dead rollbacks',
        why: 'Refunds that no wallet has taken within their horizon. A person has to decide on each.',
        unit: 'short',
        width: 6,
        steps: [[1, 'red']],
        queries: { dead: orZeroByWorkers(`sum(${DEAD_ROLLBACKS})`) },
      }),
      stat({
        title: 'Unresolved bets',
        why: 'Places of unknown outcome that nobody has rolled back yet. The service does within minutes; else the gateway does after `originateRollbackAfterMs`.',
        unit: 'short',
        width: 6,
        steps: [
          [10, 'yellow'],
          [100, 'red'],
        ],
        queries: { bets: orZeroByWorkers(`sum(${UNRESOLVED})`) },
      }),
      stat({
        title: 'Conflicts in an hour',
        why: 'Operations that contradict the journal. Nothing of them was sent; one is worth a look.',
        unit: 'locale',
        width: 6,
        steps: [[1, 'red']],
        whole: true,
        queries: {
          conflicts: orZero(`sum(increase(gateway_conflicts_total{${CHOSEN}}${HOUR}))`),
        },
      }),
      stat({
        title: 'Deliveries pending',
        why: 'Rollbacks, results and updates that the service believes done and a wallet has not confirmed.',
        unit: 'short',
        width: 6,
        steps: [
          [100, 'yellow'],
          [10_000, 'red'],
        ],
        queries: { waiting: deliveries('pending|held|dead') },
      }),
    ],
    'What nobody knows': [
      series({
        title: 'Unknown outcomes by operation',
        why: 'Which calls left, and got no valid answer?',
        unit: 'ops',
        width: 8,
        stacked: true,
        queries: { '{{operation}}': perSecond('gateway_unknown_outcomes_total', 'operation') },
      }),
      series({
        title: 'Unknown outcomes by operator',
        why: 'Whose wallet leaves us without an answer?',
        unit: 'ops',
        width: 8,
        leadsToOperator: true,
        queries: {
          '{{operator}}': `topk(10, ${perSecond('gateway_unknown_outcomes_total', 'operator')})`,
        },
      }),
      series({
        title: 'Unresolved bets by operator',
        why: 'Where are places of unknown outcome still open? They should be gone within minutes.',
        unit: 'short',
        width: 8,
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(10, ${UNRESOLVED})` },
      }),
      series({
        title: 'Unknown results by operator',
        why: 'Which settles and unsettles of unknown outcome has nobody repeated for an hour? The wallet may hold them.',
        unit: 'short',
        width: 24,
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(10, ${UNKNOWN_RESULTS})` },
      }),
    ],
    'What does not fit': [
      ranking({
        title: 'Conflicts by operator, in an hour',
        why: 'Whose bets came with another amount, currency or player, or with results for bets that were declined or rolled back?',
        unit: 'locale',
        width: 8,
        steps: [[1, 'red']],
        whole: true,
        leadsToOperator: true,
        queries: {
          '{{operator}}': `topk(20, sum by (operator) (increase(gateway_conflicts_total{${CHOSEN}}${HOUR})) > 0)`,
        },
      }),
      series({
        title: 'Duplicates by source',
        why: 'How many repeats were answered without asking a wallet again, and who knew the answer: the journal, Redis, or the first call still in flight?',
        unit: 'ops',
        width: 8,
        stacked: true,
        queries: { '{{source}}': perSecond('gateway_duplicates_total', 'source') },
      }),
      series({
        title: 'Signature failures by caller',
        why: 'Who sends what does not verify? `service` after a rotation is a missing secret; `unknown` is a stranger.',
        unit: 'ops',
        width: 8,
        queries: { '{{caller}}': perSecond('gateway_signature_failures_total', 'caller', '') },
      }),
    ],
    'What others have on their lists': [
      ranking({
        title: 'Open differences by operator',
        why: 'Whose newest list differs from the journal in what nobody has resolved yet?',
        unit: 'short',
        width: 12,
        steps: [[1, 'red']],
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(20, sum by (operator) (${DIFFERENCES}) > 0)` },
      }),
      series({
        title: 'Open differences by kind',
        why: 'What do the lists differ in: bets that one side does not have, amounts, states?',
        unit: 'short',
        width: 12,
        stacked: true,
        queries: { '{{kind}}': `sum by (kind) (${DIFFERENCES})` },
      }),
    ],
  },
});
