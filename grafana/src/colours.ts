import type { Colour, State } from './panels.ts';

/** The values of `gateway_breaker_state`. */
export const OPEN_BREAKER: readonly State[] = [
  { text: 'closed', colour: 'green' },
  { text: 'half-open', colour: 'yellow' },
  { text: 'open', colour: 'red' },
];

/** The same colours for panels that do not show states. */
export const BREAKER_STEPS: readonly (readonly [number, Colour])[] = [
  [1, 'yellow'],
  [2, 'red'],
];

/** The values of a gauge that tells whether a server answers. */
export const UP: readonly State[] = [
  { text: 'away', colour: 'red' },
  { text: 'up', colour: 'green' },
];

/** How callbacks, calls and attempts end: Grafana gives colours by order, so trouble was green on some days. */
export const ENDS: Readonly<Record<string, string>> = {
  accepted: 'green',
  duplicate: 'light-green',
  declined: 'blue',
  taken_over: 'purple',
  conflict: 'light-yellow',
  invalid: 'yellow',
  unauthorized: 'semi-dark-yellow',
  not_sent: 'light-orange',
  unknown: 'orange',
  error: 'red',
  timeout: 'orange',
  connection: 'light-red',
  http_error: 'red',
  bad_answer: 'dark-red',
};
