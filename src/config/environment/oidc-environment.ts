import { GatewayError } from '../../domain/errors.ts';

/** The issuer of people and services (docs/reference.md, People). */
export interface OidcEnvironment {
  readonly issuer: string;
  /** Undefined: bearer tokens only, no sign-in at the console through the issuer. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly audience: string;
  readonly rolesClaim: string;
  /** Before each role's name in the claim; empty: none. */
  readonly rolesPrefix: string;
  readonly scopes: string;
}

/** @throws GatewayError `CANNOT_START` naming the variable and what it should be */
export function readOidc(env: NodeJS.ProcessEnv): OidcEnvironment | undefined {
  // Pasted text and files bring blanks, with which the issuer would recognise neither client nor secret.
  const given = (name: string) => env[name]?.trim() || undefined;
  const issuer = given('OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const clientId = given('OIDC_CLIENT_ID');
  const audience = given('OIDC_AUDIENCE') ?? clientId;
  if (audience === undefined) {
    throw new GatewayError(
      'CANNOT_START',
      'OIDC_ISSUER is set, and neither OIDC_CLIENT_ID nor OIDC_AUDIENCE: tokens issued for other services would be accepted',
    );
  }
  refuseCredentials('OIDC_ISSUER', issuer);
  return {
    issuer: webAddress('OIDC_ISSUER', issuer, 'https://id.example'),
    clientId,
    clientSecret: given('OIDC_CLIENT_SECRET'),
    audience,
    rolesClaim: given('OIDC_ROLES_CLAIM') ?? 'roles',
    rolesPrefix: given('OIDC_ROLES_PREFIX') ?? '',
    scopes: given('OIDC_SCOPES') ?? 'openid email profile',
  };
}

/** The console's public address, if it differs from the address of the request. */
export function readConsoleUrl(env: NodeJS.ProcessEnv): string | undefined {
  const url = env.CONSOLE_URL?.trim();
  if (url === undefined || url === '') return undefined;
  return new URL(webAddress('CONSOLE_URL', url, 'https://console.example')).origin;
}

function webAddress(name: string, value: string, example: string): string {
  if (/^https?:\/\//.test(value) && URL.canParse(value)) return value;
  throw new GatewayError('CANNOT_START', `${name} must be an http or https URL, e.g. ${example}`);
}

/** Nothing can be asked at such an address, and the error, which is logged each time, would show the password. */
function refuseCredentials(name: string, value: string): void {
  if (!URL.canParse(value)) return;
  const { username, password } = new URL(value);
  if (username === '' && password === '') return;
  throw new GatewayError(
    'CANNOT_START',
    `${name} holds a user or a password before its host; remove them, and give the client's in OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`,
  );
}
