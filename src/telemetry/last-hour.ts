import type { Registry } from 'prom-client';
import type { Clock } from '../domain/clock.ts';

/** One operator's counts in one minute; the last item is the current minute. */
export interface OperatorMinute {
  /** Its beginning, ISO 8601 UTC. */
  readonly at: string;
  readonly callbacks: number;
  readonly declined: number;
  readonly unknown: number;
  /** Answered later than the 5 s that the service waits. */
  readonly late: number;
  readonly walletCalls: number;
  readonly walletFailures: number;
  readonly rejected: number;
  /** Mean duration of the wallet's calls, milliseconds; null if there was none. */
  readonly walletMeanMs: number | null;
}

/** One operator's counts over the last minutes. */
export interface OperatorRecently
  extends Pick<
    OperatorMinute,
    'callbacks' | 'unknown' | 'late' | 'walletCalls' | 'walletFailures'
  > {
  /** The period counted, at most about five minutes. */
  readonly seconds: number;
}

const NOTHING = {
  callbacks: 0,
  answered: 0,
  inTime: 0,
  declined: 0,
  unknown: 0,
  walletCalls: 0,
  walletFailures: 0,
  rejected: 0,
  walletSeconds: 0,
  walletTimed: 0,
};

type Totals = Readonly<typeof NOTHING>;
type Counted = keyof Totals;

interface Snapshot {
  /** Wall-clock time, for people. */
  readonly atMs: number;
  readonly monotonicMs: number;
  readonly totals: ReadonlyMap<string, Totals>;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;
const RECENT_MINUTES = 5;
/** The counters are read at most this often, however many requests need them. */
const FRESH_MS = 2_000;

/** The gateway's own counters over the last hour, for a first look without Prometheus. */
export class LastHour {
  readonly #clock: Clock;
  readonly #registry: () => Promise<Registry>;
  readonly #onError: (error: unknown) => void;
  readonly #snapshots: Snapshot[] = [];
  #timer: NodeJS.Timeout | undefined;
  #freshest: { readonly sinceMs: number; readonly snapshot: Promise<Snapshot> } | undefined;

  /** @param registry the present metrics of every process behind the admin port */
  constructor(clock: Clock, registry: () => Promise<Registry>, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#registry = registry;
    this.#onError = onError;
  }

  /** Takes a snapshot every minute until `close`; does not keep the process alive. */
  start(): void {
    void this.#look();
    this.#timer ??= setInterval(() => void this.#look(), MINUTE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** At most an hour, oldest first. */
  async of(operatorId: string): Promise<readonly OperatorMinute[]> {
    const all = [...this.#snapshots, await this.#fresh()];
    return all.slice(1).map((after, at) => {
      // `all[at]` is the snapshot before `after`, since slice(1) dropped the first.
      const before = all[at] ?? after;
      return minuteOf(
        before.atMs,
        before.totals.get(operatorId) ?? NOTHING,
        after.totals.get(operatorId) ?? NOTHING,
      );
    });
  }

  /** By operator, over the last minutes; undefined before the first snapshot. */
  async recently(): Promise<ReadonlyMap<string, OperatorRecently> | undefined> {
    const before = this.#snapshots.at(-RECENT_MINUTES) ?? this.#snapshots[0];
    if (before === undefined) return undefined;
    const after = await this.#fresh();
    const seconds = Math.max(0, Math.round((after.monotonicMs - before.monotonicMs) / 1000));
    return new Map(
      [...after.totals].map(([operator, totals]) => {
        const minute = minuteOf(before.atMs, before.totals.get(operator) ?? NOTHING, totals);
        const { callbacks, unknown, late, walletCalls, walletFailures } = minute;
        return [operator, { seconds, callbacks, unknown, late, walletCalls, walletFailures }];
      }),
    );
  }

  /** A snapshot at most `FRESH_MS` old, shared by concurrent callers. */
  #fresh(): Promise<Snapshot> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#freshest === undefined || nowMs - this.#freshest.sinceMs >= FRESH_MS) {
      this.#freshest = { sinceMs: nowMs, snapshot: this.#snapshot() };
    }
    return this.#freshest.snapshot;
  }

  async #look(): Promise<void> {
    try {
      this.#snapshots.push(await this.#snapshot());
      if (this.#snapshots.length > MINUTES) this.#snapshots.shift();
    } catch (error) {
      this.#onError(error);
    }
  }

  async #snapshot(): Promise<Snapshot> {
    const [atMs, monotonicMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()];
    return { atMs, monotonicMs, totals: await totalsIn(await this.#registry()) };
  }
}

function minuteOf(atMs: number, before: Totals, after: Totals): OperatorMinute {
  // A counter that decreases has been reset.
  const grown = (what: Counted) => Math.max(0, after[what] - before[what]);
  const timed = grown('walletTimed');
  return {
    at: new Date(atMs).toISOString(),
    callbacks: grown('callbacks'),
    declined: grown('declined'),
    unknown: grown('unknown'),
    late: Math.max(0, grown('answered') - grown('inTime')),
    walletCalls: grown('walletCalls'),
    walletFailures: grown('walletFailures'),
    rejected: grown('rejected'),
    walletMeanMs: timed === 0 ? null : Math.round((grown('walletSeconds') / timed) * 1000),
  };
}

type Labels = Readonly<Record<string, string | number | undefined>>;

/** Which counts a sample adds to, by the metric's name and for histograms the sample's. */
const COUNTS: Readonly<Record<string, (labels: Labels, sample: string) => readonly Counted[]>> = {
  gateway_callbacks_total: ({ outcome }) =>
    outcome === 'declined' || outcome === 'unknown' ? ['callbacks', outcome] : ['callbacks'],
  gateway_wallet_requests_total: ({ result }) =>
    result === 'accepted' || result === 'declined'
      ? ['walletCalls']
      : ['walletCalls', 'walletFailures'],
  gateway_rejected_total: () => ['rejected'],
  gateway_callback_duration_seconds: ({ le }, sample) => {
    if (sample.endsWith('_count')) return ['answered'];
    // The service waits 5 s.
    return Number(le) === 5 ? ['inTime'] : [];
  },
  gateway_wallet_request_duration_seconds: (_, sample) => {
    if (sample.endsWith('_count')) return ['walletTimed'];
    return sample.endsWith('_sum') ? ['walletSeconds'] : [];
  },
};

async function totalsIn(registry: Registry): Promise<ReadonlyMap<string, Totals>> {
  const totals = new Map<string, Record<Counted, number>>();
  for (const [name, countsOf] of Object.entries(COUNTS)) {
    const metric = await registry.getSingleMetric(name)?.get();
    // Histograms name each sample, which prom-client's types omit.
    const values: readonly { labels: Labels; value: number; metricName?: string }[] =
      metric?.values ?? [];
    for (const { labels, value, metricName = name } of values) {
      const operator = String(labels.operator);
      const own = totals.get(operator) ?? { ...NOTHING };
      for (const what of countsOf(labels, metricName)) own[what] += value;
      totals.set(operator, own);
    }
  }
  return totals;
}
