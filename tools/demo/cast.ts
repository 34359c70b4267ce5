import { randomBytes } from 'node:crypto';
import type { PlayerSeed } from '../simulator/wallet/players.ts';

export type OperatorId = 'alpha' | 'beta';

/** What one operator and the gateway know about each other. */
export interface CastOperator {
  readonly id: OperatorId;
  /** The operator's key at the gateway, as in the example configuration. */
  readonly cid: string;
  /** Signs the operator's requests to the gateway. */
  readonly apiSecret: string;
  /** Signs the gateway's requests to the wallet. */
  readonly walletSecret: string;
}

/** A player before any session: only the operator knows them. */
export interface CastPlayer {
  readonly operatorId: OperatorId;
  readonly user: string;
  readonly currency: string;
  /** The balance at the start, decimal text. */
  readonly balance: string;
  /** The operator's own session token. */
  readonly operatorToken: string;
}

/** Everybody who plays in the demo. Secrets and tokens are new in every run. */
export interface Cast {
  readonly serviceSecret: string;
  readonly adminToken: string;
  /** 32 bytes, base64. */
  readonly encryptionKey: string;
  readonly alpha: CastOperator;
  readonly beta: CastOperator;
  readonly anna: CastPlayer;
  readonly ben: CastPlayer;
  readonly carla: CastPlayer;
  /** alpha's test player, who is added after the journey. */
  readonly tessa: CastPlayer;
}

export function createCast(): Cast {
  return {
    serviceSecret: secret(),
    adminToken: secret(),
    encryptionKey: randomBytes(32).toString('base64'),
    alpha: operator('alpha'),
    beta: operator('beta'),
    anna: player('alpha', 'anna', '100.00', 'USD'),
    ben: player('alpha', 'ben', '50.00', 'EUR'),
    carla: player('beta', 'carla', '80.00', 'EUR'),
    tessa: player('alpha', 'tessa', '1000.00', 'USD'),
  };
}

/** The cast's players at one operator, as its wallet gets them. */
export function seedsOf(cast: Cast, operatorId: OperatorId): PlayerSeed[] {
  return [cast.anna, cast.ben, cast.carla]
    .filter((player) => player.operatorId === operatorId)
    .map(seedOf);
}

/** A player as the wallet gets it. */
export function seedOf({ user, currency, balance, operatorToken }: CastPlayer): PlayerSeed {
  return {
    user,
    balances: { [currency]: balance },
    tokens: { [operatorToken]: currency },
  };
}

function operator(id: OperatorId): CastOperator {
  return { id, cid: `${id}-key`, apiSecret: secret(), walletSecret: secret() };
}

function player(
  operatorId: OperatorId,
  user: string,
  balance: string,
  currency: string,
): CastPlayer {
  // Short enough to stay below the token limit of 64 characters with an operator's prefix.
  const operatorToken = `${user}-${randomBytes(12).toString('hex')}`;
  return { operatorId, user, currency, balance, operatorToken };
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}
