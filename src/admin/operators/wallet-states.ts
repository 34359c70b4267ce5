import type { CallClass } from '../../domain/operation.ts';
import type { BreakerState } from '../../outbound/breaker-settings.ts';
import type { Family } from '../../telemetry/exposition.ts';
import type { Wallet } from '../../wallets/call.ts';

/** A wallet's state over every process behind the admin port. */
export interface WalletState {
  readonly breaker: Readonly<Record<CallClass, BreakerState>>;
  readonly inFlight: Readonly<Record<CallClass, number>>;
}

export type StateOf = (operatorId: string) => WalletState;

interface OneProcess {
  get(operatorId: string): Pick<Wallet, 'breakerState' | 'inFlight'> | undefined;
}

/** The states in this process only. */
export function statesHere(wallets: OneProcess): StateOf {
  return (operatorId) => {
    const wallet = wallets.get(operatorId);
    return {
      breaker: byClass((callClass) => wallet?.breakerState(callClass) ?? 'closed'),
      inFlight: byClass((callClass) => wallet?.inFlight(callClass) ?? 0),
    };
  };
}

/** Indexed by the value of `gateway_breaker_state` (docs/contract.md, Metrics). */
const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];

/** The states of several processes, from their merged metrics: the worst breaker, the sum of calls in flight. */
export function statesIn(families: readonly Family[]): StateOf {
  const breakers = samplesOf(families, 'gateway_breaker_state');
  const inFlight = samplesOf(families, 'gateway_in_flight');
  const labels = (operatorId: string, callClass: CallClass) =>
    `{operator="${operatorId}",class="${callClass}"}`;
  return (operatorId) => ({
    breaker: byClass((callClass) => {
      const value = breakers.get(`gateway_breaker_state${labels(operatorId, callClass)}`) ?? 0;
      return BREAKER_STATES[value] ?? 'closed';
    }),
    inFlight: byClass(
      (callClass) => inFlight.get(`gateway_in_flight${labels(operatorId, callClass)}`) ?? 0,
    ),
  });
}

function samplesOf(families: readonly Family[], name: string): ReadonlyMap<string, number> {
  return new Map(families.find((family) => family.name === name)?.samples() ?? []);
}

export function byClass<T>(of: (callClass: CallClass) => T): Readonly<Record<CallClass, T>> {
  return { read: of('read'), money: of('money') };
}
