import { withCodings } from '../outbound/secret-mask.ts';
import { settingsSecrets } from '../wallets/evidence.ts';
import type { WalletSettings } from '../wallets/wallet-config.ts';
import { Redaction } from './calls/redact.ts';
import type { Variable } from './calls/reproduction.ts';
import type { Display } from './case-run.ts';
import type { CertificationOptions } from './certification.ts';

/** How the calls of a run are shown: without the tokens and secrets that it was given. */
export function displayOf(options: CertificationOptions): Display {
  const { settings, player, other, verbose = false } = options;
  const tokens = [player.token, player.endedToken ?? '', other?.token ?? ''];
  const secrets = revealingOf(settings).flatMap(withCodings);
  return {
    redaction: new Redaction([...tokens, ...secrets], signingSecret(settings)),
    origin: new URL(settings.baseUrl).origin,
    variables: variablesOf(options),
    verbose,
  };
}

/** The values that a script for a shell takes from the person who runs it. */
function variablesOf({ player, other, settings }: CertificationOptions): readonly Variable[] {
  const headers = Object.entries(settings.dialect.headers ?? {}).map(([name, value]) => ({
    value,
    name: `HEADER_${name.replaceAll(/\W/g, '_').toUpperCase()}`,
    about: `the value of the header ${name}`,
  }));
  return [
    { value: player.token, name: 'PLAYER_TOKEN', about: 'a live token of the test player' },
    {
      value: player.endedToken ?? '',
      name: 'ENDED_TOKEN',
      about: "a token of the test player's that has ended",
    },
    { value: other?.token ?? '', name: 'OTHER_TOKEN', about: 'a live token of the second player' },
    ...headers,
  ];
}

/** The secret that requests to the wallet are signed with. */
export function signingSecret({ secrets: [secret = ''] }: WalletSettings): string {
  return secret;
}

/** The secrets to look for: short ones are no keys, and occur in texts by chance. */
function revealingOf(settings: WalletSettings): readonly string[] {
  const isLong = (one: string) => one.length >= 8;
  return [...settings.secrets, ...settingsSecrets(settings).filter(isLong)];
}
