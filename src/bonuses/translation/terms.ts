/**
 * How answers to an operator are translated (I8): `cid` is the operator's, every player has the operator's
 * id, and no id of the aggregator is left. Pure; players were looked up before, for this
 * operator only.
 */
export interface Terms {
  /** The account's key at the service; never sent to an operator. */
  readonly serviceCid: string;
  readonly operatorCid: string;
  /** Masks secrets, such as the account's, in a text of the service. */
  readonly masked: (text: string) => string;
  /** The aggregator's ids of players of this operator, to the operator's. */
  readonly userOf: ReadonlyMap<string, string>;
}

/**
 * `item`: a bonus of the protocol, or a list of them. `template`: the same for templates, which name no
 * player: if the service ever adds one (such as who made it), that member is left out and the template
 * stays. `inside`: nested values of either, where a `name` may be a person's. `error`: any shape, with ids
 * anywhere.
 */
export type TranslatedPlace = 'item' | 'template' | 'inside' | 'error';
