import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import pkg from '../../package.json' with { type: 'json' };
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { ROOT } from './support/dockerfile.ts';

const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');

const service = z.looseObject({
  image: z.string(),
  logging: z.unknown(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({}).optional(),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
});

const compose = z
  .looseObject({
    services: z.record(z.string(), service),
    configs: z.object({ prometheus: z.object({ content: z.string() }) }),
    networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
    volumes: z.record(z.string(), z.looseObject({})),
  })
  .parse(parse(text, { merge: true }));

const { services } = compose;

function serviceOf(name: string) {
  const found = services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

/** Substitutes as compose does: `${NAME:?why}` from here, `${NAME:-default}` with its default. */
function substituted(value: string, from: Readonly<Record<string, string>>): string {
  return value.replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/g, (_, name: string, fallback?: string) =>
    String(from[name] ?? fallback),
  );
}

const REQUIRED = {
  POSTGRES_PASSWORD: 'postgrespassword',
  REDIS_PASSWORD: 'redispassword',
  ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
};

describe('compose.yaml', () => {
  it('starts the gateway, its servers, the migration, and what watches them', () => {
    expect(Object.keys(services).sort()).toEqual(
      ['gateway', 'grafana', 'migrate', 'postgres', 'prometheus', 'redis'].sort(),
    );
    expect(serviceOf('gateway').image).toBe(`wagergate:\${VERSION:-${pkg.version}}`);
  });

  it('gives the gateway an environment that it starts with', () => {
    const env = Object.entries(serviceOf('gateway').environment).map(
      ([name, value]) => [name, substituted(value, REQUIRED)] as const,
    );
    expect(readEnvironment(Object.fromEntries(env))).toMatchObject({
      databaseUrl: 'postgresql://wagergate:postgrespassword@postgres:5432/wagergate',
      redisUrl: 'redis://:redispassword@redis:6379',
      adminHost: '0.0.0.0',
      tracing: undefined,
    });
  });

  it.each([
    ...['ADMIN_HOSTS', 'ADMIN_TOKEN', 'CONSOLE_URL', 'LOG_LEVEL', 'LOG_READS_SAMPLE'],
    ...[
      'OIDC_AUDIENCE',
      'OIDC_CLIENT_ID',
      'OIDC_CLIENT_SECRET',
      'OIDC_ISSUER',
      'OIDC_ROLES_CLAIM',
      'OIDC_ROLES_PREFIX',
    ],
    ...['OIDC_SCOPES', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG', 'SECRET_FOLDERS'],
    ...['ADMIN_TRUST_PROXY', 'WORKERS'],
  ])('passes on %s where .env has it', (name) => {
    expect(serviceOf('gateway').environment[name]).toMatch(new RegExp(`^\\$\\{${name}:-.*\\}$`));
  });

  it('passes every variable that the example configuration asks for, and requires it', () => {
    const folder = join(ROOT, 'config');
    const files = ['gateway.yaml', ...readdirSync(join(folder, 'operators')).map(inOperators)];
    const asked = files.flatMap((file) =>
      [...withoutComments(readFileSync(join(folder, file), 'utf8')).matchAll(/\$\{(\w+)\}/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect(asked.length).toBeGreaterThan(5);
    const { environment } = serviceOf('gateway');
    for (const name of asked) expect(environment[name], name).toContain(`\${${name}:?`);
  });

  it('has no secret of its own: each comes from outside, and is required', () => {
    for (const [name, { environment }] of Object.entries(services)) {
      for (const [key, value] of Object.entries(environment)) {
        if (!/PASSWORD|SECRET(?!_FOLDERS)|_KEY|AUTH/.test(key)) continue;
        // An issuer is optional, and a public client has no secret.
        if (value === `\${${key}:-}` && key === 'OIDC_CLIENT_SECRET') continue;
        expect(value, `${name}.${key}`).toMatch(/^\$\{\w+:\?.+\}$/);
      }
    }
    expect(text).not.toMatch(/requirepass\s+\w/);
  });

  it('migrates before the gateway starts, when PostgreSQL is ready', () => {
    expect(serviceOf('migrate').command).toEqual(['migrate']);
    expect(serviceOf('migrate').depends_on.postgres?.condition).toBe('service_healthy');
    const { depends_on } = serviceOf('gateway');
    expect(depends_on.migrate?.condition).toBe('service_completed_successfully');
    expect(depends_on.redis?.condition).toBe('service_healthy');
  });

  it('runs a Redis that evicts nothing and forgets nothing', () => {
    const command = serviceOf('redis').command?.join(' ') ?? '';
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toContain('--appendonly yes');
  });

  it('keeps PostgreSQL and Redis unreachable from outside', () => {
    expect(compose.networks.servers?.internal).toBe(true);
    for (const name of ['postgres', 'redis']) {
      expect(serviceOf(name).networks).toEqual(['servers']);
      expect(serviceOf(name).ports).toEqual([]);
    }
    for (const [name, { ports }] of Object.entries(services)) {
      const open = ports.filter((port) => !port.startsWith('127.0.0.1:'));
      expect(open, name).toEqual(name === 'gateway' ? [`\${PORT:-8080}:8080`] : []);
    }
  });

  it('lets no log grow for ever', () => {
    for (const [name, { logging }] of Object.entries(services)) {
      expect(logging, name).toEqual({
        driver: 'json-file',
        options: { 'max-size': '20m', 'max-file': '10' },
      });
    }
  });

  it('says for every service how its health is checked', () => {
    for (const [name, { healthcheck }] of Object.entries(services)) {
      // The gateway's is built into the image.
      if (name !== 'gateway') expect(healthcheck, name).toBeDefined();
    }
  });

  it('mounts only what exists, and declares every volume and network', () => {
    for (const { volumes, networks } of Object.values(services)) {
      for (const source of volumes.map((volume) => volume.split(':')[0] ?? '')) {
        const isThere = source.startsWith('./')
          ? existsSync(join(ROOT, source))
          : source in compose.volumes;
        expect(isThere, source).toBe(true);
      }
      for (const network of networks) expect(Object.keys(compose.networks)).toContain(network);
    }
  });

  it('has Prometheus scrape the internal listener and read the alerts', () => {
    const config: unknown = parse(compose.configs.prometheus.content);
    expect(config).toMatchObject({
      rule_files: ['/etc/prometheus/alerts/*.yaml'],
      scrape_configs: [{ static_configs: [{ targets: ['gateway:9090'] }] }],
    });
    expect(serviceOf('prometheus').volumes).toContain('./grafana/alerts:/etc/prometheus/alerts:ro');
  });

  it('mounts the dashboards where the provisioning looks for them', () => {
    const mounts = new Map(
      serviceOf('grafana').volumes.map((volume) => {
        const [source = '', target = ''] = volume.split(':');
        return [source, target] as const;
      }),
    );
    const folder = join(ROOT, 'grafana/provisioning/dashboards');
    const providers = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(providers.join('\n')).toContain(`path: ${mounts.get('./grafana/dashboards')}`);
  });
});

function inOperators(file: string): string {
  return join('operators', file);
}

function withoutComments(yaml: string): string {
  return yaml.replace(/(^|\s)#.*$/gm, '');
}
