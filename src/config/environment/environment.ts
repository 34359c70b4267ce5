import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { ignoredSchema, noUrl } from '../../lib/server-address.ts';
import { secretFolders } from '../folder/secret-folders.ts';
import { cidr, OWN_SECRET_LENGTH_MIN } from '../schema/fields.ts';
import { type EncryptionKeys, readEncryptionKeys } from './encryption-keys.ts';
import { type OidcEnvironment, readConsoleUrl, readOidc } from './oidc-environment.ts';

export type Role = 'http' | 'worker';

/** The environment of a process (docs/reference.md, Commands). */
export interface Environment {
  readonly databaseUrl: string;
  /** For work that needs a connection with its own session, which a pooler at `databaseUrl` does not give. */
  readonly directDatabaseUrl: string;
  readonly redisUrl: string;
  readonly configFolder: string;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly adminToken: string | undefined;
  /** Host names of the internal listener, besides IP addresses and internal names. */
  readonly adminHosts: readonly string[];
  /** CIDRs of the proxies in front of the internal listener, whose `X-Forwarded-For` it believes. */
  readonly adminTrustProxy: readonly string[];
  /** Undefined: only the admin token authenticates. */
  readonly oidc: OidcEnvironment | undefined;
  /** Undefined: taken from the browser's request. */
  readonly consoleUrl: string | undefined;
  readonly roles: ReadonlySet<Role>;
  /** HTTP worker processes sharing the public port. */
  readonly workers: number;
  readonly migrateOnStart: boolean;
  /** Undefined: tokens are stored unencrypted. */
  readonly encryptionKeys: EncryptionKeys | undefined;
  readonly logLevel: string;
  /** The share of successful profile and balance calls that is logged, 0 to 1. */
  readonly logReadsShare: number;
  /** Undefined: nothing is traced. */
  readonly tracing: TracingEnvironment | undefined;
}

/** Where traces are sent. OpenTelemetry defines the variables, and reads more of `OTEL_*` itself. */
export interface TracingEnvironment {
  readonly endpoint: string;
  readonly serviceName: string;
  /** The recorded share of traces begun here, 0 to 1. */
  readonly share: number;
}

/** Any other scheme is a mistake, which waiting for the server would not cure. */
const DATABASE_SCHEME = /^postgres(ql)?:$/;
const DATABASE_EXAMPLE = 'postgresql://user:password@host:5432/wagergate';
const REDIS_SCHEME = /^rediss?(\+(sentinel|cluster))?:$/;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** @throws GatewayError `CANNOT_START` naming the variable and what it should be */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  refuseUncheckedCertificates(env);
  // Used by the configuration; validated here, together with the other variables.
  secretFolders(env);
  const databaseUrl = databaseAddress(env, 'DATABASE_URL');
  return {
    databaseUrl,
    directDatabaseUrl: env.DATABASE_DIRECT_URL?.trim()
      ? databaseAddress(env, 'DATABASE_DIRECT_URL')
      : databaseUrl,
    redisUrl: serverUrl(env, 'REDIS_URL', REDIS_SCHEME, 'redis://host:6379'),
    configFolder: env.GATEWAY_CONFIG || './config',
    host: env.HOST || '0.0.0.0',
    port: wholeNumber(env, 'PORT', 8080, 0, 65_535),
    adminHost: env.ADMIN_HOST || '127.0.0.1',
    adminPort: wholeNumber(env, 'ADMIN_PORT', 9090, 0, 65_535),
    adminToken: adminToken(env),
    adminHosts: (env.ADMIN_HOSTS ?? '').split(',').flatMap((name) => name.trim() || []),
    adminTrustProxy: trustedProxies(env),
    oidc: readOidc(env),
    consoleUrl: readConsoleUrl(env),
    roles: roles(env),
    workers: wholeNumber(env, 'WORKERS', 1, 1, 256),
    migrateOnStart: flag(env, 'MIGRATE_ON_START'),
    encryptionKeys: readEncryptionKeys(env.ENCRYPTION_KEY),
    logLevel: oneOf(env, 'LOG_LEVEL', 'info', LOG_LEVELS),
    logReadsShare: share(env, 'LOG_READS_SAMPLE'),
    tracing: tracing(env),
  };
}

/** With that variable Node trusts anybody who claims to be PostgreSQL, Redis, the issuer or the collector. */
function refuseUncheckedCertificates(env: NodeJS.ProcessEnv): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new GatewayError(
    'CANNOT_START',
    'NODE_TLS_REJECT_UNAUTHORIZED is 0, which leaves certificates unchecked; remove it, and name a private ' +
      "authority in NODE_EXTRA_CA_CERTS (a wallet's in wallet.tls.ca)",
  );
}

function databaseAddress(env: NodeJS.ProcessEnv, name: string): string {
  const url = serverUrl(env, name, DATABASE_SCHEME, DATABASE_EXAMPLE);
  const ignored = ignoredSchema(url);
  if (ignored !== undefined) throw new GatewayError('CANNOT_START', `${name} ${ignored}`);
  return url;
}

function serverUrl(env: NodeJS.ProcessEnv, name: string, scheme: RegExp, example: string): string {
  // Pasted text brings blanks, which every client interprets differently.
  const value = env[name]?.trim();
  if (value === undefined || value === '') {
    throw new GatewayError('CANNOT_START', `${name} is not set; set it, e.g. ${name}=${example}`);
  }
  if (!URL.canParse(value)) {
    throw new GatewayError('CANNOT_START', `${name} ${noUrl(value, example)}`);
  }
  const { protocol } = new URL(value);
  if (!scheme.test(protocol)) {
    throw new GatewayError(
      'CANNOT_START',
      `${name} begins with ${protocol} and names another kind of server; expected e.g. ${example}`,
    );
  }
  return value;
}

function wholeNumber(
  env: NodeJS.ProcessEnv,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  // Not by Number() alone: it reads a blank as 0, which would listen at any free port, and 0x50 as 80.
  const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new GatewayError('CANNOT_START', `${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}

function roles(env: NodeJS.ProcessEnv): ReadonlySet<Role> {
  const words = (env.ROLES || 'http,worker').split(',').map((word) => word.trim());
  const known = words.filter((word) => word === 'http' || word === 'worker');
  if (known.length !== words.length) {
    throw new GatewayError('CANNOT_START', 'ROLES must be http, worker or http,worker');
  }
  return new Set(known);
}

function share(env: NodeJS.ProcessEnv, name: string): number {
  const text = env[name];
  if (text === undefined || text === '') return 1;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= 0 && value <= 1)) {
    throw new GatewayError('CANNOT_START', `${name} must be a number from 0 to 1`);
  }
  return value;
}

function tracing(env: NodeJS.ProcessEnv): TracingEnvironment | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || endpoint === '') return undefined;
  if (!/^https?:/.test(endpoint) || !URL.canParse(endpoint)) {
    throw new GatewayError(
      'CANNOT_START',
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, e.g. http://collector:4318',
    );
  }
  return {
    endpoint,
    serviceName: env.OTEL_SERVICE_NAME || 'wagergate',
    share: share(env, 'OTEL_TRACES_SAMPLER_ARG'),
  };
}

function flag(env: NodeJS.ProcessEnv, name: string): boolean {
  return oneOf(env, name, 'false', ['true', 'false']) === 'true';
}

function oneOf(
  env: NodeJS.ProcessEnv,
  name: string,
  fallback: string,
  words: readonly string[],
): string {
  const value = env[name] || fallback;
  if (!words.includes(value)) {
    throw new GatewayError('CANNOT_START', `${name} must be one of ${words.join(', ')}`);
  }
  return value;
}

function adminToken(env: NodeJS.ProcessEnv): string | undefined {
  // A variable made from a file ends in a line break, which no header can carry.
  const token = env.ADMIN_TOKEN?.trim();
  if (token === undefined || token === '') return undefined;
  if (token.length < OWN_SECRET_LENGTH_MIN) {
    throw new GatewayError(
      'CANNOT_START',
      `ADMIN_TOKEN must have at least ${OWN_SECRET_LENGTH_MIN} characters; make one with: openssl rand -base64 32`,
    );
  }
  if (/[^\x21-\x7e]/.test(token)) {
    throw new GatewayError(
      'CANNOT_START',
      'ADMIN_TOKEN holds a blank, or a character beyond ASCII, which nobody could send; make one with: openssl rand -base64 32',
    );
  }
  return token;
}

function trustedProxies(env: NodeJS.ProcessEnv): readonly string[] {
  const given = (env.ADMIN_TRUST_PROXY ?? '').split(',').flatMap((one) => one.trim() || []);
  const { success } = z.array(cidr()).safeParse(given);
  if (success) return given;
  throw new GatewayError(
    'CANNOT_START',
    'ADMIN_TRUST_PROXY must be CIDRs separated by commas, such as 10.0.0.0/8, or 192.0.2.7/32 for one address',
  );
}
