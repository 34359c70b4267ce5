/** The protocol's rules in words, for readers without the repository. */
export const RULES = {
  signature:
    'Every callback is signed: x-sign-jws holds a detached JWS (HS256, the shared secret) over the exact bytes of the body. The wallet verifies it before it trusts anything.',
  headerOrder: 'The members of the JWS header may come in any order.',
  profile:
    'A profile names the player: userId (constant for one real person), currency, currencies, and optionally isTest and customFields.',
  currency:
    "A token belongs to one player and one currency; the profile names that currency, and a bet's operations carry the one it was placed in.",
  token:
    'A token is checked before a profile, a balance or a place is answered: an unknown one is refused with code 3, an old one with code 4.',
  ownToken: 'A token gives access to its own player alone.',
  balance: 'A balance is the userId, the currency and the amount as a JSON number.',
  place: 'A place debits the stake at once, or is refused with HTTP 400 and a code.',
  notEnough: 'A place above the balance is refused with code 7.',
  duplicate:
    'The transactionId is the id of the bet: the same place again debits nothing, and is answered like the first or with code 8.',
  oneBet: 'A transactionId belongs to one bet: one player, one amount.',
  method: 'A place is a POST with type 1; results, rollbacks and updates are PUTs.',
  settle:
    'A settle credits its amount: 0 for a lost bet, the payout for a won one, the stake for a refund. It carries no token, unless it is a cashout.',
  repeatedSettle:
    'A settle is sent again when its answer was lost: with the same data it pays no second time, and is answered 200.',
  endedSession:
    'Results and rollbacks may come long after the session has ended: the token that the bet was placed with is checked no more, whether it is sent or not.',
  cashout: "A cashout is the player's own wish: its settle carries a token, which is checked.",
  resettle:
    'A settle with another amount replaces the earlier one: the first payout is taken back, the new one made. A wallet may refuse that with code 20 or 21.',
  unknownBet: 'A result of a bet that the wallet does not have moves nothing.',
  owner: "A bet's operations name its own player; money of others never moves.",
  unsettle:
    'An unsettle takes the payout back, whatever result made it; the bet waits for a result again.',
  repeatedUnsettle: 'An unsettle is sent again when its answer was lost: it takes back once.',
  rollback: 'A rollback cancels the bet and gives the stake back, once per bet.',
  repeatedRollback:
    'A rollback is sent again until it is confirmed, and once more after a lost place: it refunds once, and is answered 200 (or 400 with code 8) each time.',
  unknownRollback:
    'A rollback of a bet that the wallet does not have is answered 200: there is nothing to refund.',
  earlyRollback:
    'A rollback may arrive before its place, or together with it: afterwards nothing is debited.',
  rolledBack: 'After its rollback a bet is closed: no place, settle or unsettle moves money.',
  rollbackSettled:
    'A rollback cancels the bet: of a settled one both the stake and the payout are undone.',
  update: 'An update changes stored coefficients, moves no money and is answered 200.',
  freebet:
    'A freebet is a place with bonusId, bonusTemplateId and bonusAmount; its operations are those of any bet.',
  latency:
    'An answer that takes longer than the gateway waits (x-deadline-ms; at most 5 seconds) counts as none.',
  concurrent: 'Bets are independent: calls for different bets may come at the same time.',
  exact: 'Amounts are decimals, and are counted exactly.',
  life: 'A bet is placed, settled, unsettled and settled again, or rolled back.',
  newMembers: 'Requests may gain new members; a wallet ignores what it does not know.',
  kinds: 'Bets are single or express, of the sportsbook or of turbogames.',
  validation: 'A request that makes no sense is refused with HTTP 400 and code 5.',
  success:
    "A success is HTTP 200 with a JSON object: the bet's transactionId, and transactionTime in ISO 8601, UTC.",
  once: 'A request has one answer. It does not say which request it belongs to: that follows from their order alone.',
  idle: 'A connection serves one call after another; who closes it between two calls may lose the second.',
  refusal: 'A refusal is HTTP 400 with a JSON object: code, an integer, and message, a text.',
} as const;
