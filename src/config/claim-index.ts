/** Something that only one owner may have. */
export interface SoleClaim {
  /** What is claimed; never shown, it may hold a secret. */
  readonly key: string;
  readonly owner: string;
  /** The setting that claims it; empty for the file as a whole. */
  readonly path: string;
  /** `shared`: several may, unless it is the exclusive claim of another. */
  readonly kind: 'exclusive' | 'shared';
  /** Completes "<path> …", given who has it. */
  readonly says: (owner: string) => string;
}

export interface Claimed extends SoleClaim {
  /** An operator's id; undefined for the gateway, which never steps back. */
  readonly id: string | undefined;
  readonly file: string;
  /** Who comes before whom: lower ones stand. No two are the same. */
  readonly rank: number;
}

export interface Clash {
  readonly loser: Claimed;
  readonly winner: Claimed;
}

/**
 * Claims by what is claimed. A thousand files that took the same secret by a slip step back one after
 * the other, and callbacks wait meanwhile: so a look takes up only what has changed since the last.
 */
export class ClaimIndex {
  readonly #ofKey = new Map<string, Claimed[]>();
  readonly #changed = new Set<string>();
  /** Of each key the first clash, where there is one. */
  readonly #clashes = new Map<string, Clash>();

  add(claims: readonly Claimed[]): void {
    for (const claim of claims) {
      const standing = this.#ofKey.get(claim.key);
      if (standing === undefined) this.#ofKey.set(claim.key, [claim]);
      else standing.push(claim);
      this.#changed.add(claim.key);
    }
  }

  remove(claims: readonly Claimed[]): void {
    for (const claim of claims) {
      const standing = this.#ofKey.get(claim.key) ?? [];
      const at = standing.indexOf(claim);
      if (at >= 0) standing.splice(at, 1);
      this.#changed.add(claim.key);
    }
  }

  /** The one that is found first when all claims are gone through in the order of their ranks. */
  firstClash(): Clash | undefined {
    for (const key of this.#changed) {
      const clash = clashIn(this.#ofKey.get(key) ?? []);
      if (clash === undefined) this.#clashes.delete(key);
      else this.#clashes.set(key, clash);
    }
    this.#changed.clear();
    let first: Clash | undefined;
    for (const clash of this.#clashes.values()) {
      if (first === undefined || clash.loser.rank < first.loser.rank) first = clash;
    }
    return first;
  }
}

/** @param claims of one key, put in their order here */
function clashIn(claims: Claimed[]): Clash | undefined {
  // Nearly every key: one owner's secret, or what a thousand files name and nobody has for himself.
  if (claims.length < 2 || claims.every(({ kind }) => kind === 'shared')) return undefined;
  claims.sort((a, b) => a.rank - b.rank);
  const [first] = claims;
  if (first === undefined) return undefined;
  let exclusive: Claimed | undefined;
  let ofAnother: Claimed | undefined;
  for (const claim of claims) {
    const isFirsts = claim.owner === first.owner;
    // Once one of those that stand is exclusive, all of them are of one owner.
    const barred = exclusive?.owner === claim.owner ? undefined : exclusive;
    const winner = claim.kind === 'shared' ? barred : isFirsts ? ofAnother : first;
    if (winner !== undefined) return { loser: claim, winner };
    if (claim.kind === 'exclusive') exclusive ??= claim;
    if (!isFirsts) ofAnother ??= claim;
  }
  return undefined;
}
