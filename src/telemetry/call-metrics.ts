import type { Makers } from './makers.ts';

/** Callbacks, as the service sees them. */
export function callbackMetrics({ counter, gauge, histogram }: Makers) {
  return {
    callbacks: counter('gateway_callbacks_total', 'Callbacks answered, by outcome', [
      'operator',
      'operation',
      'outcome',
    ]),
    callbackDuration: histogram(
      'gateway_callback_duration_seconds',
      'From the arrival of a callback to its answer',
      ['operator', 'operation'],
    ),
    duplicates: counter('gateway_duplicates_total', 'Duplicates answered without a wallet call', [
      'operator',
      'operation',
      'source',
    ]),
    conflicts: counter('gateway_conflicts_total', 'Operations that contradict what is recorded', [
      'operator',
    ]),
    repairedCallbacks: counter(
      'gateway_repaired_callbacks_total',
      'Rollbacks and updates with an odd or missing member, carried out without it',
      ['operator', 'operation'],
    ),
    unknownOutcomes: counter(
      'gateway_unknown_outcomes_total',
      'Wallet calls whose effect the gateway cannot know',
      ['operator', 'operation'],
    ),
    unresolved: gauge(
      'gateway_unresolved_bets',
      'Places of unknown outcome that nobody has rolled back yet',
      ['operator'],
    ),
    unknownResults: gauge(
      'gateway_unknown_results',
      'Results of unknown outcome that nobody has repeated for an hour',
      ['operator'],
    ),
    signatureFailures: counter('gateway_signature_failures_total', 'Requests refused unsigned', [
      'caller',
    ]),
  };
}

/** Wallet calls, and calls not sent to a wallet. */
export function walletMetrics({ counter, gauge, gaugeWhenRead, histogram }: Makers) {
  return {
    walletRequests: counter('gateway_wallet_requests_total', 'Calls to wallets, by result', [
      'operator',
      'operation',
      'result',
    ]),
    walletRequestDuration: histogram(
      'gateway_wallet_request_duration_seconds',
      'From handing a call to the wallet connection to its outcome',
      ['operator', 'operation'],
    ),
    walletDeclines: counter('gateway_wallet_declines_total', 'Declines by wallets, by their code', [
      'operator',
      'code',
    ]),
    repairedAnswers: counter(
      'gateway_repaired_answers_total',
      'Profiles and balances in which the gateway repaired this member',
      ['operator', 'field'],
    ),
    rejected: counter('gateway_rejected_total', 'Calls not sent to a wallet, by reason', [
      'operator',
      'reason',
    ]),
    breakerState: gauge(
      'gateway_breaker_state',
      'Circuit breaker: 0 closed, 1 half-open, 2 open',
      ['operator', 'class'],
      'max',
    ),
    inFlight: gaugeWhenRead('gateway_in_flight', 'Wallet calls under way', ['operator', 'class']),
  };
}
