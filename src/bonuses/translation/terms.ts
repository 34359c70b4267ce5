/**
 * How answers to an operator are translated (I8): no id of the aggregator is left. Pure; players were looked
 * up before, for this operator only.
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
 * `item`: a bonus, or a list of them. `template`: the same for templates; a member that names a player is left out.
 * `inside`: nested values of either. `error`: any shape, with ids anywhere.
 */
export type TranslatedPlace = 'item' | 'template' | 'inside' | 'error';
