import type { Operation } from '../domain/operation.ts';
import type { BreakerSettings } from '../outbound/breaker.ts';
import type { TlsIdentity } from '../outbound/connector.ts';

/**
 * The part of an operator's file that calls need. Objects are compared by identity: an unchanged operator stays
 * the same object across reloads, so that its connections are kept.
 */
export interface WalletOperator {
  readonly id: string;
  readonly status: OperatorStatus;
  readonly wallet: WalletSettings;
}

export type OperatorStatus = 'active' | 'maintenance' | 'suspended';

export interface WalletSettings {
  /** A name in the list of adapters (`adapters/index.ts`). */
  readonly adapter: string;
  readonly baseUrl: string;
  /** Permits plain http and private or loopback addresses. */
  readonly allowPrivate: boolean;
  /** At least one; the first signs what is sent. */
  readonly secrets: readonly string[];
  /** For private authorities and client certificates. */
  readonly tls?: TlsIdentity | undefined;
  /** The longest that a call may take; a deadline may leave less. */
  readonly timeoutMs: number;
  /** The most calls in flight, per class. */
  readonly maxConcurrent: { readonly read: number; readonly money: number };
  readonly breaker: BreakerSettings;
  readonly dialect: Dialect;
}

/** Relaxations of the `native` adapter, item by item; all off by default. */
export interface Dialect {
  readonly paths?:
    | {
        readonly profile?: string | undefined;
        readonly balance?: string | undefined;
        readonly bet?: string | undefined;
      }
    | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly legacySign?: boolean | undefined;
  readonly alwaysSendToken?: boolean | undefined;
  readonly successStatuses?: readonly number[] | undefined;
  /** `body`: the code in the body. */
  readonly errorStatuses?: Readonly<Record<string, number | 'body'>> | undefined;
  readonly codeField?: string | undefined;
  readonly okCodes?: readonly number[] | undefined;
  readonly mapCodes?:
    | { readonly [O in Operation]?: Readonly<Record<string, number>> | undefined }
    | undefined;
  readonly unknownCodes?: readonly number[] | undefined;
  readonly echo?: 'check' | 'ignore' | undefined;
  readonly emptyOk?: boolean | undefined;
  readonly rollbackConfirmedBy?: readonly number[] | undefined;
  readonly stableRequestId?: boolean | undefined;
  readonly unknownRepeats?: 'send' | 'hold' | undefined;
  readonly updates?: 'send' | 'skip' | undefined;
}

/** Whether connections made with one of the settings may be used with the other. */
export function sharesConnections(one: WalletSettings, other: WalletSettings): boolean {
  return (
    new URL(one.baseUrl).origin === new URL(other.baseUrl).origin &&
    one.allowPrivate === other.allowPrivate &&
    one.tls?.ca === other.tls?.ca &&
    one.tls?.cert === other.tls?.cert &&
    one.tls?.key === other.tls?.key &&
    one.timeoutMs === other.timeoutMs &&
    one.maxConcurrent.read === other.maxConcurrent.read &&
    one.maxConcurrent.money === other.maxConcurrent.money
  );
}
