import { board } from './board.ts';
import { ranking, series, stat } from './panels.ts';
import { CHOSEN, orZero, orZeroByWorkers, perSecond, totalPerSecond } from './promql.ts';

const OPEN = `max by (operator, kind) (gateway_bonus_open_intents{${CHOSEN}})`;
const DENIED = `sum by (operator) (increase(gateway_bonus_requests_total{${CHOSEN}, outcome="denied"}[1h]))`;

/** The operators' bonus API, and the service's API behind it. */
export const bonus = board({
  name: 'bonus',
  title: 'Wagergate / Bonus',
  why: 'The bonus API: is it used, does the service answer, does anybody reach for what is not theirs, is anything left open?',
  operators: 'any',
  rows: {
    'At a glance': [
      stat({
        title: 'Requests',
        why: 'How much is the bonus API used?',
        unit: 'reqps',
        width: 8,
        queries: { requests: totalPerSecond('gateway_bonus_requests_total') },
      }),
      stat({
        title: 'Open intents',
        why: 'Templates and bonuses whose creation the service never confirmed. What stays open waits for a person.',
        unit: 'short',
        width: 8,
        steps: [
          [1, 'yellow'],
          [10, 'red'],
        ],
        queries: { open: orZeroByWorkers(`sum(${OPEN})`) },
      }),
      stat({
        title: 'Denied in an hour',
        why: 'How often did an operator name a template, bonus or player that is not its own? It is told 404.',
        unit: 'locale',
        width: 8,
        steps: [
          [1, 'yellow'],
          [50, 'red'],
        ],
        whole: true,
        queries: { denied: orZero(`sum(${DENIED})`) },
      }),
    ],
    Requests: [
      series({
        title: 'By method',
        why: 'What do operators ask for? Listing is harmless, creating and issuing costs money.',
        unit: 'reqps',
        width: 12,
        stacked: true,
        queries: { '{{method}}': perSecond('gateway_bonus_requests_total', 'method') },
      }),
      series({
        title: 'By outcome',
        why: 'How does it end: done, refused by the service, denied by us, or without an answer of the service?',
        unit: 'reqps',
        width: 12,
        stacked: true,
        queries: { '{{outcome}}': perSecond('gateway_bonus_requests_total', 'outcome') },
      }),
    ],
    'By whom': [
      series({
        title: 'Requests by operator',
        why: 'Who uses it, and does one of them use it far more than the others?',
        unit: 'reqps',
        width: 12,
        leadsToOperator: true,
        queries: {
          '{{operator}}': `topk(10, ${perSecond('gateway_bonus_requests_total', 'operator')})`,
        },
      }),
      ranking({
        title: 'Denied by operator, in an hour',
        why: 'Who reaches for what is not theirs? A few are typing errors, hundreds are a search.',
        unit: 'locale',
        width: 12,
        steps: [
          [1, 'yellow'],
          [50, 'red'],
        ],
        whole: true,
        leadsToOperator: true,
        queries: { '{{operator}}': `topk(20, ${DENIED} > 0)` },
      }),
    ],
  },
});
