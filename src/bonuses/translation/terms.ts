/**
 * What leaves towards an operator, in its own terms (I8): `cid` is the operator's, every player is
 * called as the operator calls him, and no id of the aggregator's is left. Pure; who a player is
 * was looked up before, for this operator alone.
 */
export interface Terms {
  /** The account's key at the service; never leaves. */
  readonly serviceCid: string;
  readonly operatorCid: string;
  /** The aggregator's ids of players of this operator, to the operator's. */
  /** A text of the service's without what lets somebody in, such as the account's secrets. */
  readonly masked: (text: string) => string;
  readonly userOf: ReadonlyMap<string, string>;
}

/**
 * `item`: a bonus of the protocol, or a list of such. `template`: the same of templates, which
 * speak of no player, so that one the service comes to name (who made it, say) is left out and the
 * template stays. `inside`: what either holds, where a `name` may be anybody's. `error`: whatever
 * shape, an id may be anywhere.
 */
export type TranslatedPlace = 'item' | 'template' | 'inside' | 'error';
