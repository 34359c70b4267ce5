import type { z } from 'zod';
import type { DeepReadonly } from '../../lib/deep-readonly.ts';
import type { Delivery } from './delivery-schema.ts';
import type { gatewaySchema } from './gateway-schema.ts';
import type { operatorSchema } from './operator-schema.ts';

export type { Delivery } from './delivery-schema.ts';
export { dialectSchema } from './dialect-schema.ts';
export { gatewaySchema } from './gateway-schema.ts';
export { OPERATOR_ID, operatorSchema } from './operator-schema.ts';

/** `gateway.yaml`, checked and with every default. */
export type GatewayConfig = DeepReadonly<z.output<typeof gatewaySchema>>;

/** `operators/<id>.yaml`, checked by itself, without what depends on the gateway's file. */
export type OperatorFile = DeepReadonly<z.output<typeof operatorSchema>>;

/** One operator, completed with the gateway's settings where its own file has none. */
export type OperatorConfig = Omit<OperatorFile, 'delivery' | 'wallet'> & {
  readonly wallet: WalletConfig;
  /** The gateway's settings with the operator's own put over them. */
  readonly delivery: Readonly<Delivery>;
};

export type WalletConfig = Omit<OperatorFile['wallet'], 'timeoutMs'> & {
  /** Never above the gateway's `deadline.totalMs`. */
  readonly timeoutMs: number;
};

export type WalletDialect = WalletConfig['dialect'];

/** The configuration in force. An operator that a reload did not change stays the same object. */
export interface Configuration {
  readonly gateway: GatewayConfig;
  /** By operator id, in alphabetical order. */
  readonly operators: ReadonlyMap<string, OperatorConfig>;
  /** Operators with an invalid file and no valid earlier version: treated as in maintenance. */
  readonly invalidOperators: ReadonlySet<string>;
}
