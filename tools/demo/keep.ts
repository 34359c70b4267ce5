import { fileURLToPath } from 'node:url';
import { balanceBody } from '../../src/protocol/callback-bodies.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { type Cast, seedOf } from './cast.ts';
import type { Player, Players } from './journey/scene.ts';
import type { Narrator } from './narrator.ts';
import type { Stage } from './stage.ts';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

/** Prints the addresses and secrets, for a person who wants to try things by hand. */
export function printAddresses(
  stage: Stage,
  players: Players | undefined,
  signInLink: string,
  narrator: Narrator,
): void {
  const { cast, gateway, wallets, bonusApi } = stage;
  const { adminUrl } = gateway;
  const pairs = (title: string, lines: readonly (readonly [string, string])[]) => {
    narrator.heading(title);
    for (const [name, value] of lines) narrator.line(`  ${name.padEnd(20)}${value}`);
  };
  pairs('Addresses', [
    ['gateway', gateway.url],
    ['admin', `${adminUrl}/admin/operators`],
    ['console', `${adminUrl}/console`],
    ['metrics', `${adminUrl}/metrics`],
    ['health', `${adminUrl}/health/ready`],
    ["alpha's wallet", wallets.alpha.baseUrl],
    ["beta's wallet", wallets.beta.baseUrl],
    ['bonus API', bonusApi.url],
    ['docs', DOCS],
  ]);
  pairs('Keys of this run', [
    ['service secret', cast.serviceSecret],
    ['admin bearer token', cast.adminToken],
    ...[cast.alpha, cast.beta].flatMap(({ id, cid, apiSecret, walletSecret }) => [
      [`${id} cid`, cid] as const,
      [`${id} API secret`, apiSecret] as const,
      [`${id} wallet secret`, walletSecret] as const,
    ]),
    ["anna's own token", cast.anna.operatorToken],
  ]);
  if (players !== undefined) {
    narrator.heading('A signed callback, as the service sends it');
    narrator.line(`  ${exampleCall(gateway.url, cast, players.anna)}`);
  }
  printCommands(stage, narrator);
  narrator.heading(
    'The console, for one sign-in within 60 s (another: npx wagergate console link)',
  );
  narrator.line(`  ${signInLink}`);
  narrator.heading('Everything stays up until Ctrl-C.');
}

/** Variables that concern only the server: its listener and its start. */
const OF_THE_SERVER = new Set(['HOST', 'PORT', 'MIGRATE_ON_START']);

/** Prints the environment that `npx wagergate` needs, and commands to try. */
function printCommands(stage: Stage, narrator: Narrator): void {
  const { cast, environment, gateway, service, wallets } = stage;
  wallets.alpha.addPlayer({ ...seedOf(cast.tessa), isTest: true });
  narrator.heading('For `npx wagergate`, in another shell');
  // The system picked this port at the start.
  const ADMIN_PORT = new URL(gateway.adminUrl).port;
  for (const [name, value] of Object.entries({ ...environment, ADMIN_PORT })) {
    if (!OF_THE_SERVER.has(name)) narrator.line(`  export ${name}='${value}'`);
  }
  const { user, operatorToken } = cast.tessa;
  const commands = [
    'console link',
    'config check --probe',
    'config diff',
    'deliveries list',
    ...service
      .books()
      .bets.slice(0, 1)
      .map(({ transactionId }) => `bet ${transactionId}`),
    // A folder that git and the checks ignore.
    `certify --operator alpha --user ${user} --token ${operatorToken} --out certificates`,
  ];
  for (const command of commands) narrator.line(`  npx wagergate ${command}`);
}

/** A call that can be repeated at will: the signature covers exactly these bytes. */
function exampleCall(gatewayUrl: string, { serviceSecret }: Cast, player: Player): string {
  const body = balanceBody(player);
  const [key] = signingKeys([serviceSecret]);
  if (key === undefined) throw new Error('a secret gives a key');
  return [
    `curl -sS ${gatewayUrl}/user/balance`,
    `-H 'content-type: application/json'`,
    `-H 'x-sign-jws: ${sign(body, key)}'`,
    `--data-raw '${body}'`,
  ].join(' \\\n    ');
}
