import type { Clock } from '../domain/clock.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import type { CertifiedPlayer } from './calls/caller.ts';
import type { RecordedCall } from './calls/recorded-call.ts';
import type { Case } from './case.ts';
import type { Display } from './case-run.ts';
import type { CaseResult, Certificate } from './certificate/certificate.ts';
import type { Selection } from './selection.ts';
import type { LatencyLimits } from './trial/trial-context.ts';

export interface CertificationOptions {
  /** What the report calls the wallet: an operator's id, or its address. */
  readonly operator: string;
  readonly currencies: readonly string[];
  /** The wallet's address and settings, the dialect included. */
  readonly settings: WalletSettings;
  /** The operator's dialect was left out on purpose. */
  readonly strict: boolean;
  readonly player: CertifiedPlayer;
  readonly other: { readonly userId: string; readonly token: string } | undefined;
  /** Groups and single cases; default: all. */
  readonly only: readonly Selection[];
  /** Continues although the wallet does not mark the player as a test player. */
  readonly iKnow: boolean;
  /** Version of the kit. */
  readonly version: string;
  readonly clock: Clock;
  /** When aborted, the run ends with what it has so far, and the certificate says so. */
  readonly signal: AbortSignal;
  /** Every case's calls in full, not only those of cases that failed. */
  readonly verbose?: boolean;
  /** Default: the wallet's `timeoutMs`, a warning above 2 s or half of it, and 1.5 s before a late repeat. */
  readonly limits?: Partial<LatencyLimits> & {
    readonly callMs?: number;
    readonly lateMs?: number;
  };
  readonly onProgress?: (event: Progress) => void;
}

export type Progress =
  | { readonly kind: 'begun'; readonly one: Case; readonly at: number; readonly of: number }
  | { readonly kind: 'ended'; readonly result: CaseResult }
  /** The cases run again, with or without a suggested item. */
  | { readonly kind: 'verifying'; readonly dialect: Dialect }
  | { readonly kind: 'warning'; readonly text: string };

/** The certificate, and every call of the first run. */
export interface Certified {
  readonly certificate: Certificate;
  readonly calls: readonly RecordedCall[];
  readonly display: Display;
}

/** Nothing was certified, and no money moved. The message says what to do. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
