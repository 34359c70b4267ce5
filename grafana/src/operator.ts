import { board } from './board.ts';
import { BREAKER_STEPS, ENDS, OPEN_BREAKER } from './colours.ts';
import { heatmap, ranking, series, stat, timeline } from './panels.ts';
import {
  CHOSEN,
  deliveries,
  highest,
  perSecond,
  quantiles,
  shareWithin5s,
  totalPerSecond,
  worst,
} from './promql.ts';

const BUCKETS = `gateway_callback_duration_seconds_bucket{${CHOSEN}}`;
const ITS_SIGNATURES = 'caller=~"$operator"';

/** Everything about one operator, as its account manager and its engineers need it. */
export const operator = board({
  name: 'operator',
  title: 'Wagergate / Operator',
  why: 'One operator: what it is asked, how its wallet answers, what waits for it.',
  operators: 'one',
  rows: {
    'At a glance': [
      stat({
        title: 'Answers',
        why: 'How much does the service ask for this operator’s players?',
        unit: 'reqps',
        width: 6,
        queries: { answers: totalPerSecond('gateway_callbacks_total') },
      }),
      stat({
        title: 'Inside 5 s',
        why: 'Which share of its callbacks was answered in time? The objective is 99.9 %.',
        unit: 'percentunit',
        width: 6,
        lowest: 'red',
        steps: [
          [0.995, 'yellow'],
          [0.999, 'green'],
        ],
        queries: { share: shareWithin5s() },
      }),
      stat({
        title: 'Oldest rollback',
        why: 'How long does one of its players wait for a stake at most?',
        unit: 's',
        width: 6,
        steps: [
          [60, 'yellow'],
          [360, 'red'],
        ],
        queries: { age: worst('gateway_rollback_oldest_seconds') },
      }),
      stat({
        title: 'Dead letters',
        why: 'Which promises to it wait for a person?',
        unit: 'short',
        width: 6,
        steps: [[1, 'red']],
        queries: { dead: deliveries('dead') },
      }),
    ],
    Callbacks: [
      series({
        title: 'Volume by operation',
        why: 'What is it asked for? Places without settles, or balances alone, are worth a look.',
        unit: 'reqps',
        width: 8,
        stacked: true,
        queries: { '{{operation}}': perSecond('gateway_callbacks_total', 'operation') },
      }),
      series({
        title: 'Answers by outcome',
        why: 'What does the service hear about its players?',
        unit: 'reqps',
        width: 8,
        stacked: true,
        colours: ENDS,
        queries: { '{{outcome}}': perSecond('gateway_callbacks_total', 'outcome') },
      }),
      heatmap({
        title: 'Answer time',
        why: 'Is it all slow, or only some of it? Two bands are two kinds of calls, or a wallet with one slow node.',
        unit: 's',
        width: 8,
        queries: { '{{le}}': `sum by (le) (increase(${BUCKETS}[$__rate_interval]))` },
      }),
    ],
    'Its wallet': [
      series({
        title: 'Wallet answers by result',
        why: 'How does the wallet answer? `timeout`, `connection`, `http_error` and `bad_answer` feed the breaker.',
        unit: 'reqps',
        width: 8,
        stacked: true,
        colours: ENDS,
        queries: { '{{result}}': perSecond('gateway_wallet_requests_total', 'result') },
      }),
      series({
        title: 'Wallet time',
        why: 'How much of our 4.8 seconds does the wallet use? Near its `timeoutMs` calls are cut off and unknown.',
        unit: 's',
        width: 8,
        steps: [[4, 'red']],
        queries: quantiles('gateway_wallet_request_duration_seconds'),
      }),
      series({
        title: 'Declines by code',
        why: 'Why does the wallet say no? 7 is too little money; a rise of others is a rule or a fault of the operator.',
        unit: 'reqps',
        width: 8,
        stacked: true,
        queries: { 'code {{code}}': perSecond('gateway_wallet_declines_total', 'code') },
      }),
      timeline(
        {
          title: 'Breakers',
          why: 'When was the operator shut out, and for which class of calls?',
          unit: 'short',
          width: 8,
          steps: BREAKER_STEPS,
          queries: { '{{class}}': `max by (class) (gateway_breaker_state{${CHOSEN}})` },
        },
        OPEN_BREAKER,
      ),
      series({
        title: 'Bulkhead',
        why: 'Is there room for its calls? At the limit calls are refused at once (`wallet.maxConcurrent`).',
        unit: 'short',
        width: 8,
        queries: {
          '{{class}} in flight': `sum by (class) (gateway_in_flight{${CHOSEN}})`,
        },
      }),
      series({
        title: 'Not sent, by reason',
        why: 'What did we keep back from the wallet, and why? Nothing of it can have moved money.',
        unit: 'reqps',
        width: 8,
        stacked: true,
        queries: { '{{reason}}': perSecond('gateway_rejected_total', 'reason') },
      }),
    ],
    'What waits, what is odd': [
      series({
        title: 'Backlog',
        why: 'What is accepted and not yet delivered? Held deliveries wait for the breaker, maintenance or a release.',
        unit: 'short',
        width: 8,
        stacked: true,
        queries: { '{{operation}} {{state}}': deliveries('pending|held', 'operation, state') },
      }),
      series({
        title: 'Oldest delivery',
        why: 'How long has the oldest of them waited?',
        unit: 's',
        width: 8,
        steps: [[360, 'red']],
        queries: { oldest: highest('gateway_delivery_oldest_seconds', 1) },
      }),
      ranking({
        title: 'Oddities in an hour',
        why: 'Conflicts contradict the journal, unknown outcomes need closing, signature failures are a wrong or rotated secret on the operator’s side.',
        unit: 'locale',
        width: 8,
        steps: [
          [1, 'yellow'],
          [20, 'red'],
        ],
        whole: true,
        queries: {
          conflicts: `sum(increase(gateway_conflicts_total{${CHOSEN}}[1h]))`,
          'unknown outcomes': `sum(increase(gateway_unknown_outcomes_total{${CHOSEN}}[1h]))`,
          'signature failures': `sum(increase(gateway_signature_failures_total{${ITS_SIGNATURES}}[1h]))`,
        },
      }),
    ],
  },
});
