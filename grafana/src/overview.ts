import { board } from './board.ts';
import { BREAKER_STEPS, ENDS, OPEN_BREAKER } from './colours.ts';
import { series, stat, timeline } from './panels.ts';
import {
  CHOSEN,
  deliveries,
  highest,
  openedBreakers,
  orZero,
  perSecond,
  quantile,
  quantiles,
  shareWithin5s,
  totalPerSecond,
  worst,
} from './promql.ts';

const UNKNOWN = totalPerSecond('gateway_unknown_outcomes_total');
const ANSWERED = `${CHOSEN}, operation=~"place|settle|unsettle"`;
const TROUBLE = `${CHOSEN}, outcome=~"unknown|not_sent|error"`;

/** The first page of a bad night: is it us, is it one operator, is money waiting? */
export const overview = board({
  name: 'overview',
  title: 'Wagergate / Overview',
  why: 'One operator or all? Are answers still inside 5 seconds? What is the oldest undelivered rollback?',
  operators: 'any',
  rows: {
    'At a glance': [
      stat({
        title: 'Answers',
        why: 'How much is going on? Nothing at all for minutes means that the service cannot reach us.',
        unit: 'reqps',
        width: 4,
        lowest: 'yellow',
        steps: [[0.001, 'green']],
        queries: { answers: totalPerSecond('gateway_callbacks_total') },
      }),
      stat({
        title: 'Inside 5 s',
        why: 'Do we keep the promise of an answer within 5 seconds? The service rolls back what comes later. The objective is 99.9 %.',
        unit: 'percentunit',
        width: 4,
        lowest: 'red',
        steps: [
          [0.995, 'yellow'],
          [0.999, 'green'],
        ],
        queries: { share: shareWithin5s() },
      }),
      stat({
        title: 'Unknown',
        why: 'Of bets, results and cancelled results: which share ended with an unknown outcome? Each is closed by a rollback or a repeat.',
        unit: 'percentunit',
        width: 4,
        steps: [
          [0.005, 'yellow'],
          [0.02, 'red'],
        ],
        queries: {
          share: `${UNKNOWN} / (${totalPerSecond('gateway_callbacks_total', ANSWERED)} > 0)`,
        },
      }),
      stat({
        title: 'Oldest rollback',
        why: 'How long does a player wait for a stake at most? After 6 minutes the service has stopped retrying, so only our delivery is left.',
        unit: 's',
        width: 4,
        steps: [
          [60, 'yellow'],
          [360, 'red'],
        ],
        queries: { age: worst('gateway_rollback_oldest_seconds') },
      }),
      stat({
        title: 'Dead letters',
        why: 'Which promises are past their horizon? Each one waits for a person: `wagergate deliveries list --state dead`.',
        unit: 'short',
        width: 4,
        steps: [[1, 'red']],
        queries: { dead: deliveries('dead') },
      }),
      stat({
        title: 'Open breakers',
        why: 'How many operators take no calls of a class (read or money)? Many at once point at our own network.',
        unit: 'short',
        width: 4,
        steps: [
          [1, 'yellow'],
          [5, 'red'],
        ],
        queries: {
          // For a wallet that is down, most scrapes see the half-open times between two tries.
          open: orZero(
            `count(max by (operator, class) (max_over_time(gateway_breaker_state{${CHOSEN}}[1m])) == 2)`,
          ),
        },
      }),
    ],
    'One operator or all?': [
      series({
        title: 'Trouble by operator',
        why: 'Whose callbacks end as unknown, not sent or in an error? One line: that operator. All of them: us.',
        unit: 'reqps',
        width: 8,
        leadsToOperator: true,
        queries: {
          '{{operator}}': `topk(10, ${perSecond('gateway_callbacks_total', 'operator', TROUBLE)})`,
        },
      }),
      series({
        title: 'Slowest operators, p99',
        why: 'Whose wallet spends the 5 seconds?',
        unit: 's',
        width: 8,
        steps: [[4.8, 'red']],
        leadsToOperator: true,
        queries: {
          '{{operator}}': `topk(10, ${quantile(0.99, 'gateway_callback_duration_seconds', CHOSEN, 'operator')})`,
        },
      }),
      timeline(
        {
          title: 'Breakers that opened',
          why: 'Which operators are shut out, which are being tried again? Only breakers that were not closed all the time, at most twenty.',
          unit: 'short',
          width: 8,
          steps: BREAKER_STEPS,
          sparse: true,
          leadsToOperator: true,
          queries: {
            '{{operator}} {{class}}': openedBreakers(20),
          },
        },
        OPEN_BREAKER,
      ),
    ],
    'Are we answering?': [
      series({
        title: 'Answers by outcome',
        why: 'What do we answer? `unknown`, `not_sent` and `error` are ours or a wallet’s trouble; `declined` is the wallet’s own word.',
        unit: 'reqps',
        width: 12,
        stacked: true,
        colours: ENDS,
        queries: { '{{outcome}}': perSecond('gateway_callbacks_total', 'outcome') },
      }),
      series({
        title: 'Answer time',
        why: 'How far are we from the service’s limit of 5 seconds, and from our own deadline of 4.8?',
        unit: 's',
        width: 12,
        steps: [
          [4.8, 'orange'],
          [5, 'red'],
        ],
        queries: quantiles('gateway_callback_duration_seconds'),
      }),
    ],
    'What waits?': [
      series({
        title: 'Unknown outcomes by operation',
        why: 'Which operations leave us without a valid answer of the wallet?',
        unit: 'reqps',
        width: 8,
        queries: { '{{operation}}': perSecond('gateway_unknown_outcomes_total', 'operation') },
      }),
      series({
        title: 'Oldest delivery by operator',
        why: 'Who has waited longest for a rollback or an update? A line that climbs steadily is an operator that takes nothing.',
        unit: 's',
        width: 8,
        steps: [[360, 'red']],
        leadsToOperator: true,
        queries: { '{{operator}}': highest('gateway_delivery_oldest_seconds', 10) },
      }),
      series({
        title: 'Wallet calls in flight',
        why: 'How many calls are under way? A plateau is a wallet that hangs.',
        unit: 'short',
        width: 8,
        stacked: true,
        queries: { '{{class}}': `sum by (class) (gateway_in_flight{${CHOSEN}})` },
      }),
    ],
  },
});
