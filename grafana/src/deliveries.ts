import { board } from './board.ts';
import { ENDS } from './colours.ts';
import { ranking, series, stat } from './panels.ts';
import {
  CHOSEN,
  highest,
  deliveries as inState,
  orZeroByWorkers,
  perSecond,
  quantiles,
  worst,
} from './promql.ts';

const DELIVERED = `sum(rate(gateway_delivery_attempts_total{${CHOSEN}, result="accepted"}[5m]))`;
const NEVER = -1;
const PENDING = inState('pending');
// Callbacks under way and repeats that wait to confirm are pending as well, without any trouble: both are young.
const OLDEST_PENDING = `max(max by (operator) (gateway_delivery_oldest_seconds{${CHOSEN}})
  and on (operator) sum by (operator) (gateway_deliveries{${CHOSEN}, state="pending"}) > 0)`;
const TIME_TO_EMPTY = `(${PENDING} > 0) / (${DELIVERED} > 0)
  or (${PENDING} > 0 and on () ${OLDEST_PENDING} > 300) * 0 + ${NEVER}
  or ${PENDING} == 0`;
const TAKEN_OVER = `${CHOSEN}, outcome="taken_over"`;
const LAG_STEPS = [[360, 'red']] as const;

/** What was promised to the service and has not reached a wallet yet. */
export const deliveries = board({
  name: 'deliveries',
  title: 'Wagergate / Deliveries',
  why: 'What is pending for wallets: how much, how old, how fast it goes, what is stuck.',
  operators: 'any',
  rows: {
    'At a glance': [
      stat({
        title: 'Pending',
        why: 'How many deliveries wait for their turn or their next attempt?',
        unit: 'short',
        width: 4,
        steps: [
          [1_000, 'yellow'],
          [50_000, 'red'],
        ],
        queries: { pending: inState('pending') },
      }),
      stat({
        title: 'Held',
        why: 'How many wait for an operator to take calls again? Their horizon stands still.',
        unit: 'short',
        width: 4,
        steps: [[1, 'yellow']],
        queries: { held: inState('held') },
      }),
      stat({
        title: 'Dead letters',
        why: 'How many are past their horizon and wait for a person?',
        unit: 'short',
        width: 4,
        steps: [[1, 'red']],
        queries: { dead: inState('dead') },
      }),
      stat({
        title: 'Oldest rollback',
        why: 'How long does a player wait for a stake at most?',
        unit: 's',
        width: 4,
        steps: [
          [60, 'yellow'],
          [360, 'red'],
        ],
        queries: { age: worst('gateway_rollback_oldest_seconds') },
      }),
      stat({
        title: 'Delivered',
        why: 'How many deliveries do wallets confirm per second?',
        unit: 'ops',
        width: 4,
        queries: { rate: orZeroByWorkers(DELIVERED) },
      }),
      stat({
        title: 'Time to empty',
        why: 'At the pace of the last five minutes, when is the backlog gone? Never, if none of it was delivered and some of it is older than that.',
        unit: 's',
        width: 4,
        words: [{ value: NEVER, text: 'never', colour: 'red' }],
        steps: [
          [600, 'yellow'],
          [3_600, 'red'],
        ],
        queries: { time: TIME_TO_EMPTY },
      }),
    ],
    'How much, how old': [
      series({
        title: 'Backlog by operation',
        why: 'What waits? Rollbacks and results are money, updates are not.',
        unit: 'short',
        width: 8,
        stacked: true,
        queries: { '{{operation}} {{state}}': inState('pending|held', 'operation, state') },
      }),
      series({
        title: 'Backlog by operator',
        why: 'Whose is it? One operator’s backlog does not slow the others down.',
        unit: 'short',
        width: 8,
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(10, ${inState('pending|held', 'operator')})` },
      }),
      series({
        title: 'Oldest by operator',
        why: 'Who waits longest? A line that climbs at one second per second is not being served.',
        unit: 's',
        width: 8,
        steps: LAG_STEPS,
        leadsToOperator: true,
        queries: { '{{operator}}': highest('gateway_delivery_oldest_seconds', 10) },
      }),
    ],
    'How fast': [
      series({
        title: 'In and out',
        why: 'Does the backlog drain faster than it grows?',
        unit: 'ops',
        width: 8,
        queries: {
          'taken over': `sum(rate(gateway_callbacks_total{${TAKEN_OVER}}[$__rate_interval]))`,
          delivered: `sum(rate(gateway_delivery_attempts_total{${CHOSEN}, result="accepted"}[$__rate_interval]))`,
        },
      }),
      series({
        title: 'Attempts by result',
        why: 'How do attempts end? Many attempts that fail in one way have one cause.',
        unit: 'ops',
        width: 8,
        stacked: true,
        colours: ENDS,
        queries: { '{{result}}': perSecond('gateway_delivery_attempts_total', 'result') },
      }),
      series({
        title: 'From promise to wallet',
        why: 'How long from accepting a delivery to its confirmation, over all operators?',
        unit: 's',
        width: 8,
        steps: LAG_STEPS,
        queries: quantiles('gateway_delivery_lag_seconds', ''),
      }),
    ],
    'What is stuck': [
      ranking({
        title: 'Dead letters by operator',
        why: 'Whom to call. `wagergate deliveries list --state dead --operator ID` shows each with its last error.',
        unit: 'short',
        width: 8,
        steps: [[1, 'red']],
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(20, ${inState('dead', 'operator')})` },
      }),
      ranking({
        title: 'Held by operator',
        why: 'Who takes nothing at the moment: an open breaker, maintenance, a removed file, or bets of an older wallet.',
        unit: 'short',
        width: 8,
        steps: [[1, 'yellow']],
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(20, ${inState('held', 'operator')})` },
      }),
      series({
        title: 'Slices by trigger',
        why: 'Does the scheduler in Redis wake the workers? `sweep` stands in while Redis is away.',
        unit: 'ops',
        width: 8,
        queries: { '{{by}}': perSecond('gateway_drains_total', 'by', '') },
      }),
    ],
  },
});
