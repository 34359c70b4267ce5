import { stringify } from 'yaml';
import type { Clock } from '../domain/clock.ts';
import type { WalletAdapter } from '../wallets/adapters/adapter.ts';
import { createAdapter } from '../wallets/adapters/index.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import { describeExchange, type Reading, readingOf } from './answer-meaning.ts';
import { candidatesFor, merged } from './candidates.ts';
import type { Suggestion } from './certificate.ts';
import type { Finding } from './judgement.ts';
import { type Sighting, satisfies } from './recorded-call.ts';

/** A case's calls, once it is over. */
export interface Evidence {
  readonly caseId: string;
  readonly sightings: readonly Sighting[];
  /** Money moved otherwise than it should: no dialect may make that look right. */
  readonly booksWrong: boolean;
  readonly findings: readonly Finding[];
}

interface Reason {
  readonly why: string;
  readonly cases: Set<string>;
}

interface Judged {
  readonly caseId: string;
  readonly sighting: Sighting;
  readonly booksWrong: boolean;
}

/**
 * The items of the dialect under which the gateway would have understood what it did not
 * (docs/contract.md, Dialects). Each was tried on the answers of this very run: it makes at least
 * one answer read as it was meant, spoils none that was read rightly, and makes no success of what
 * should have been a refusal or of an answer in a case where money went wrong.
 */
export class Suggestions {
  readonly #settings: WalletSettings;
  readonly #clock: Clock;
  readonly #judged: readonly Judged[];
  readonly #reasons = new Map<keyof Dialect, Reason>();
  readonly #adapters = new WeakMap<Dialect, WalletAdapter>();
  /** Patches that spoil other answers, by their text: the next answer need not try them again. */
  readonly #harmful = new Set<string>();
  #dialect: Dialect;

  constructor(settings: WalletSettings, clock: Clock, evidence: readonly Evidence[]) {
    this.#settings = settings;
    this.#clock = clock;
    this.#dialect = settings.dialect;
    this.#judged = evidence.flatMap(({ caseId, sightings, booksWrong }) =>
      sightings
        .filter(({ forged, wanted }) => !forged && wanted.kind !== 'anything')
        .map((sighting) => ({ caseId, sighting, booksWrong })),
    );
    for (const one of this.#judged) this.#explain(one);
    for (const { caseId, findings } of evidence) {
      for (const { dialect, why } of findings) this.#adopt(dialect, why, caseId);
    }
  }

  list(): readonly Suggestion[] {
    return [...this.#reasons].map(([item, { why, cases }]) => ({
      item,
      yaml: stringify({ [item]: this.#dialect[item] }).trimEnd(),
      why,
      cases: [...cases].sort(),
    }));
  }

  #explain(one: Judged): void {
    const { sighting, caseId, booksWrong } = one;
    if (booksWrong) return;
    if (satisfies(this.#read(sighting, this.#dialect), sighting.wanted)) {
      this.#credit(one);
      return;
    }
    const patch = candidatesFor(sighting).find((candidate) => this.#helps(one, candidate));
    if (patch === undefined) return;
    const what = `${sighting.operation} was answered ${describeExchange(sighting.exchange)}`;
    this.#adopt(patch, what, caseId);
  }

  /** Names the case with every item adopted so far without which its answer would be misread. */
  #credit({ sighting, caseId }: Judged): void {
    const { dialect: base } = this.#settings;
    if (satisfies(this.#read(sighting, base), sighting.wanted)) return;
    for (const [item, { cases }] of this.#reasons) {
      const { [item]: _adopted, ...others } = this.#dialect;
      const without: Dialect =
        base[item] === undefined ? others : { ...others, [item]: base[item] };
      if (!satisfies(this.#read(sighting, without), sighting.wanted)) cases.add(caseId);
    }
  }

  #adopt(patch: Dialect, why: string, caseId: string): void {
    this.#dialect = merged(this.#dialect, patch);
    for (const item of itemsOf(patch)) {
      const known = this.#reasons.get(item);
      if (known === undefined) this.#reasons.set(item, { why, cases: new Set([caseId]) });
      else known.cases.add(caseId);
    }
  }

  #helps({ sighting }: Judged, patch: Dialect): boolean {
    const dialect = merged(this.#dialect, patch);
    const name = JSON.stringify(patch);
    if (this.#harmful.has(name)) return false;
    if (!satisfies(this.#read(sighting, dialect), sighting.wanted)) return false;
    const isHarmless = this.#judged.every(({ sighting: other, booksWrong }) => {
      const before = this.#read(other, this.#dialect);
      const after = this.#read(other, dialect);
      const mustNot = booksWrong || other.wanted.kind === 'refusal';
      if (mustNot && isGood(after) && !isGood(before)) return false;
      return !satisfies(before, other.wanted) || satisfies(after, other.wanted);
    });
    if (!isHarmless) this.#harmful.add(name);
    return isHarmless;
  }

  #read({ call, exchange }: Sighting, dialect: Dialect): Reading {
    let adapter = this.#adapters.get(dialect);
    if (adapter === undefined) {
      adapter = createAdapter({ ...this.#settings, dialect }, this.#clock);
      this.#adapters.set(dialect, adapter);
    }
    return readingOf(adapter, call, exchange);
  }
}

function isGood(reading: Reading): boolean {
  return reading.kind === 'accepted' || (reading.kind === 'declined' && reading.code === 8);
}

function itemsOf(patch: Dialect): readonly (keyof Dialect)[] {
  const names: readonly (keyof Dialect)[] = [
    'legacySign',
    'alwaysSendToken',
    'successStatuses',
    'errorStatuses',
    'codeField',
    'okCodes',
    'mapCodes',
    'unknownCodes',
    'echo',
    'emptyOk',
    'rollbackConfirmedBy',
    'stableRequestId',
    'updates',
  ];
  return names.filter((name) => patch[name] !== undefined);
}
