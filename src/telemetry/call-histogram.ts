/** The observations of one operator and label value; `counts` are per bucket, not cumulative. */
interface Series {
  /** `operator="alpha",operation="place"` */
  readonly labels: string;
  readonly counts: number[];
  count: number;
  sum: number;
}

export interface CallHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** The second label, besides `operator`. */
  readonly label: Label;
  /** Upper bounds, ascending; `+Inf` is implied. */
  readonly buckets: readonly number[];
}

/**
 * A histogram by operator and one more label. prom-client's histogram creates an object per bucket
 * whenever it is read: with a thousand operators that blocks callbacks for half a second.
 */
export class CallHistogram<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  readonly #label: Label;
  /** For each bound, the text after the labels. */
  readonly #edges: readonly string[];
  readonly #series = new Map<string, Map<string, Series>>();

  constructor({ name, help, label, buckets }: CallHistogramOptions<Label>) {
    this.name = name;
    this.help = help;
    this.buckets = buckets;
    this.#label = label;
    this.#edges = buckets.map((edge) => `,le="${edge}"}`);
  }

  observe(labels: Readonly<Record<Label | 'operator', string>>, seconds: number): void {
    const series = this.#find(labels.operator, labels[this.#label]);
    series.count += 1;
    series.sum += seconds;
    const bucket = this.buckets.findIndex((edge) => seconds <= edge);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }

  /** Every sample in the order of the text format. Each series is a consistent snapshot. */
  *samples(): Generator<readonly [head: string, value: number]> {
    const bucketName = `${this.name}_bucket{`;
    for (const ofOperator of this.#series.values()) {
      for (const { labels, counts, count, sum } of ofOperator.values()) {
        // A copy: with observations made between reads, a bucket could exceed the total.
        const counted = [...counts];
        let below = 0;
        for (const [index, edge] of this.#edges.entries()) {
          below += counted[index] ?? 0;
          yield [bucketName + labels + edge, below];
        }
        yield [`${bucketName}${labels},le="+Inf"}`, count];
        yield [`${this.name}_sum{${labels}}`, sum];
        yield [`${this.name}_count{${labels}}`, count];
      }
    }
  }

  #find(operator: string, value: string): Series {
    let ofOperator = this.#series.get(operator);
    if (ofOperator === undefined) {
      ofOperator = new Map();
      this.#series.set(operator, ofOperator);
    }
    let series = ofOperator.get(value);
    if (series === undefined) {
      const labels = `operator="${operator}",${this.#label}="${value}"`;
      series = { labels, counts: this.buckets.map(() => 0), count: 0, sum: 0 };
      ofOperator.set(value, series);
    }
    return series;
  }
}
