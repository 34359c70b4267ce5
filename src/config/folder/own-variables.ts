/** Variables that the gateway and its command line tool read themselves (docs/reference.md, Commands). */
const OWN = new Set([
  'ADMIN_HOST',
  'ADMIN_HOSTS',
  'ADMIN_PORT',
  'ADMIN_TOKEN',
  'ADMIN_TRUST_PROXY',
  'CONSOLE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_URL',
  'ENCRYPTION_KEY',
  'GATEWAY_CONFIG',
  'HOST',
  'LOG_LEVEL',
  'LOG_READS_SAMPLE',
  'MIGRATE_ON_START',
  'PORT',
  'REDIS_URL',
  'ROLES',
  'SECRET_FOLDERS',
  'WORKERS',
]);

/** Families of variables that the gateway, its libraries or its platform read. */
const OWN_FAMILY = /^(OIDC|OTEL|NODE|WAGERGATE|AWS|AZURE|GOOGLE|KUBERNETES|npm)_|^PG[A-Z]+$/;

/** Whether a variable is the gateway's own: an operator's file would send its value to a wallet. */
export function isOwnVariable(name: string): boolean {
  return OWN.has(name) || OWN_FAMILY.test(name);
}

/** The gateway's own credentials in the environment, by name. */
export function ownSecretsIn(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  return new Map(
    ['ADMIN_TOKEN', 'OIDC_CLIENT_SECRET'].flatMap((name) => {
      const value = env[name]?.trim();
      return value === undefined || value === '' ? [] : [[name, value] as const];
    }),
  );
}
