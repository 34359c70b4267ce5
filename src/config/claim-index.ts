/** A claim to something that only one owner may have: a secret, an `api.cid`, the source of a variable. */
export interface SoleClaim {
  /** What is claimed. Never shown, since it may contain a secret. */
  readonly key: string;
  readonly owner: string;
  /** The setting that claims it; empty for the whole file. */
  readonly path: string;
  /** `shared`: several owners may claim it, unless another owner claims it exclusively. */
  readonly kind: 'exclusive' | 'shared';
  /** Completes "<path> …" for a problem, given the owner that has it. */
  readonly says: (owner: string) => string;
}

export interface Claimed extends SoleClaim {
  /** An operator's id; undefined for the gateway, whose claims never give way. */
  readonly id: string | undefined;
  readonly file: string;
  /** Priority: of two conflicting claims the lower rank wins. Ranks are unique. */
  readonly rank: number;
}

export interface Clash {
  readonly loser: Claimed;
  readonly winner: Claimed;
}

/** Claims by key. Each search only examines keys changed since the last: a thousand files may share a secret. */
export class ClaimIndex {
  readonly #ofKey = new Map<string, Claimed[]>();
  readonly #changed = new Set<string>();
  /** The first clash of each key that has one. */
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

  /** The clash whose losing claim has the lowest rank. */
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

/** @param claims of one key; sorted by rank in place */
function clashIn(claims: Claimed[]): Clash | undefined {
  // The usual case: a single claim, or a variable that many files share.
  if (claims.length < 2 || claims.every(({ kind }) => kind === 'shared')) return undefined;
  claims.sort((a, b) => a.rank - b.rank);
  const [first] = claims;
  if (first === undefined) return undefined;
  let exclusive: Claimed | undefined;
  let ofAnother: Claimed | undefined;
  for (const claim of claims) {
    const isFirsts = claim.owner === first.owner;
    // Once an accepted claim is exclusive, all accepted claims belong to its owner.
    const barred = exclusive?.owner === claim.owner ? undefined : exclusive;
    const winner = claim.kind === 'shared' ? barred : isFirsts ? ofAnother : first;
    if (winner !== undefined) return { loser: claim, winner };
    if (claim.kind === 'exclusive') exclusive ??= claim;
    if (!isFirsts) ofAnother ??= claim;
  }
  return undefined;
}
