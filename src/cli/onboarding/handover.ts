import type { DraftSecrets, OperatorDraft } from './new-operator.ts';

/** What an operator must be given, over a secure channel. */
export interface Handover {
  readonly gatewayUrl: string;
  readonly cid: string;
  /** Signs what the operator sends; or the file that contains it. */
  readonly apiSecret: string;
  /** Verifies what the gateway sends; or the file that contains it. */
  readonly walletSecret: string;
  readonly walletUrl: string;
  readonly tokens: string;
}

export function handoverOf(
  { id, cid, walletUrl, sessions }: OperatorDraft,
  { wallet, api }: DraftSecrets,
  gatewayUrl: string | undefined,
): Handover {
  const shown = ({ expression, value }: DraftSecrets['api']) =>
    expression.startsWith('file:') ? `(in ${expression.slice('file:'.length)})` : value;
  return {
    gatewayUrl: gatewayUrl ?? "(the gateway's public address)",
    cid,
    apiSecret: shown(api),
    walletSecret: shown(wallet),
    walletUrl,
    tokens:
      sessions === 'issued'
        ? 'your server asks for one per session: POST /operator/sessions'
        : `your frontend passes ${id}.<your own token>, at most 64 characters together`,
  };
}

/** The letter to the operator. */
export function handoverText(handover: Handover): string {
  const facts = [
    ['gateway', handover.gatewayUrl],
    ['cid', handover.cid],
    ['API secret', `${handover.apiSecret}`],
    ['', 'signs what you send to the gateway (x-sign-jws)'],
    ['wallet secret', `${handover.walletSecret}`],
    ['', 'signs what the gateway sends to your wallet: verify it'],
    ['your wallet', `${handover.walletUrl}, with /user/profile, /user/balance, /payment/bet`],
    ['tokens', handover.tokens],
    ['the guide', 'docs/for-operators.md'],
  ] as const;
  return facts.map(([name, value]) => `  ${name.padEnd(15)}${value}`).join('\n');
}
