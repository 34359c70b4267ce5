/** The operators chosen above the panels; `.*` means all, including unknown callers. */
export const CHOSEN = 'operator=~"$operator"';

/** Every worker replica reads these metrics from the same database, so they must not be added up. */
const SHARED = 'operator, operation, state';

/** What a number calls now. `$__rate_interval` grows with the time range: over 30 days it is hours. */
const NOW = '[5m]';

/** A counter's increase per second, summed by these labels. */
export function perSecond(metric: string, by: string, where = CHOSEN): string {
  return `sum by (${by}) (rate(${metric}{${where}}[$__rate_interval]))`;
}

/** Nothing as soon as no process is scraped: what it did in the minutes before is not what it does now. */
function whileScraped(query: string): string {
  return `(${query} and on () gateway_build_info)`;
}

/** 0 where a query finds nothing, but only while a process is scraped: nobody's look must not say that all is well. */
export function orZero(query: string): string {
  return `(${whileScraped(query)} or 0 * max(gateway_build_info))`;
}

/** The same for what only workers report: without one, the gauges are missing and nobody knows. */
export function orZeroByWorkers(query: string): string {
  return `((${query} and on () gateway_drains_total) or 0 * max(gateway_drains_total))`;
}

/** A counter's total increase per second, now; 0 while the counter does not exist. */
export function totalPerSecond(metric: string, where = CHOSEN): string {
  return orZero(`sum(rate(${metric}{${where}}${NOW}))`);
}

/** The duration below which this share of the observations stays, in seconds. */
export function quantile(share: number, histogram: string, where = CHOSEN, by = ''): string {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const rates = `rate(${histogram}_bucket{${where}}[$__rate_interval])`;
  return `histogram_quantile(${share}, sum by (${labels}) (${rates}))`;
}

/** p50, p95 and p99 of a histogram, by their names. */
export function quantiles(histogram: string, where = CHOSEN): Record<string, string> {
  return {
    p50: quantile(0.5, histogram, where),
    p95: quantile(0.95, histogram, where),
    p99: quantile(0.99, histogram, where),
  };
}

/**
 * The share, now, of a histogram's observations up to its bound at 5 s, written `5` or `5.0`. Nothing where there were none:
 * 0/0 is NaN, which a panel shows in the colour of its lowest step.
 */
export function shareWithin5s(where = CHOSEN): string {
  const metric = 'gateway_callback_duration_seconds';
  const within = `sum(rate(${metric}_bucket{${where}, le=~"5(\\\\.0)?"}${NOW}))`;
  return whileScraped(`${within} / (sum(rate(${metric}_count{${where}}${NOW})) > 0)`);
}

/** Deliveries in these states, counted once however many replicas report them. */
export function deliveries(states: string, by?: string): string {
  const counted = `max by (${SHARED}) (gateway_deliveries{${CHOSEN}, state=~"${states}"})`;
  return by === undefined ? orZeroByWorkers(`sum(${counted})`) : `sum by (${by}) (${counted})`;
}

/** The highest values of a gauge that every worker replica reads from the same database. */
export function highest(gauge: string, count: number): string {
  return `topk(${count}, max by (operator) (${gauge}{${CHOSEN}}))`;
}

/** The highest value over all operators of a gauge that workers read; 0 if there is none. */
export function worst(gauge: string): string {
  return orZeroByWorkers(`max(${gauge}{${CHOSEN}})`);
}

/** Breakers that were not closed all the time, the worst first; those of a healthy operator would hide them. */
export function openedBreakers(count: number): string {
  const state = `gateway_breaker_state{${CHOSEN}}`;
  const worstSoFar = `max by (operator, class) (max_over_time(${state}[$__range] @ end()))`;
  return `max by (operator, class) (${state}) and topk(${count}, ${worstSoFar} > 0)`;
}
