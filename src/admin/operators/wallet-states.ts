import type { Registry } from 'prom-client';
import type { CallClass } from '../../domain/operation.ts';
import type { BreakerState } from '../../outbound/breaker.ts';
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

/** Indexed by the value of `gateway_breaker_state` (docs/reference.md, Metrics). */
const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];

/** The states of several processes, from their merged metrics: the worst breaker, the sum of calls in flight. */
export async function statesIn(registry: Pick<Registry, 'getSingleMetric'>): Promise<StateOf> {
  const breakers = await valuesOf(registry, 'gateway_breaker_state');
  const inFlight = await valuesOf(registry, 'gateway_in_flight');
  return (operatorId) => ({
    breaker: byClass(
      (callClass) => BREAKER_STATES[breakers.get(keyOf(operatorId, callClass)) ?? 0] ?? 'closed',
    ),
    inFlight: byClass((callClass) => inFlight.get(keyOf(operatorId, callClass)) ?? 0),
  });
}

async function valuesOf(registry: Pick<Registry, 'getSingleMetric'>, name: string) {
  const metric = await registry.getSingleMetric<'operator' | 'class'>(name)?.get();
  return new Map(
    metric?.values.map(({ labels, value }) => [keyOf(labels.operator, labels.class), value]),
  );
}

function keyOf(operator: string | number | undefined, callClass: string | number | undefined) {
  return `${operator}/${callClass}`;
}

export function byClass<T>(of: (callClass: CallClass) => T): Readonly<Record<CallClass, T>> {
  return { read: of('read'), money: of('money') };
}
