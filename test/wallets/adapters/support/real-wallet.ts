import { expect } from 'vitest';
import type { TestBet } from '../../../support/bet.ts';
import { good, type OwnAnswer, type OwnCall } from '../../support/own-wallet.ts';

export interface RealWallet {
  readonly does: string;
  /** Items of `wallet.dialect` that make it work; without them the gateway copes with it as it is. */
  readonly dialect?: Readonly<Record<string, unknown>>;
  readonly answer: (call: OwnCall, before: readonly OwnCall[]) => OwnAnswer;
  /** What the service sees of it. */
  readonly shows: (scene: Scene) => Promise<void>;
}

/** One wallet and its operator. */
export interface Scene {
  readonly operatorId: string;
  calls(bet: TestBet): readonly OwnCall[];
  unplaced(): Promise<TestBet>;
  placed(): Promise<TestBet>;
}

export const code = (value: unknown, status = 400): OwnAnswer => ({
  status,
  body: { code: value, message: 'No' },
});

/** Refuses what its test says, and answers everything else well. */
export const refusing =
  (operation: OwnCall['operation'], refusal: OwnAnswer) =>
  (call: OwnCall): OwnAnswer =>
    call.operation === operation ? refusal : good(call);

/** A whole bet succeeds. */
export async function livesWell({ placed }: Scene): Promise<void> {
  const bet = await placed();
  expect((await bet.update('1.7')).json?.transactionId).toBe(bet.transactionId);
  expect((await bet.settle('10')).json?.transactionId).toBe(bet.transactionId);
  expect((await bet.unsettle()).status).toBe(200);
  expect((await bet.rollback()).status).toBe(200);
  expect(await bet.deliveries()).toEqual([]);
}

/** A place is refused, and the service gets the protocol's code for it. */
export const refusesPlaces =
  (expected: number) =>
  async ({ unplaced }: Scene): Promise<void> => {
    const answer = await (await unplaced()).place();
    expect([answer.status, answer.json?.code]).toEqual([400, expected]);
  };

/** The outcome of a place stays unknown: code 100, and the rollback goes to the wallet. */
export async function leavesPlacesOpen({ unplaced, calls }: Scene): Promise<void> {
  const bet = await unplaced();
  const answer = await bet.place();
  expect([answer.status, answer.json?.code]).toEqual([400, 100]);
  expect((await bet.rollback()).status).toBe(200);
  expect(calls(bet).map(({ operation }) => operation)).toContain('rollback');
}

export const goodOr = (isGood: boolean, call: OwnCall, refusal: OwnAnswer): OwnAnswer =>
  isGood ? good(call) : refusal;
