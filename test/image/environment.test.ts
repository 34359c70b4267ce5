import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { variablesRead } from '../config/support/variables-read.ts';
import { ROOT } from './support/dockerfile.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://u:p@h/d', REDIS_URL: 'redis://h' };

describe('the environment', () => {
  it('is documented for operators: every variable is in docs/deployment.md', () => {
    const documented = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
    const read = variablesRead();
    expect(read.size).toBeGreaterThan(20);
    expect([...read].filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  it('logs every read and traces nothing by default', () => {
    expect(readEnvironment(REQUIRED)).toMatchObject({ logReadsShare: 1, tracing: undefined });
  });

  it('traces if there is a receiver', () => {
    const env = { ...REQUIRED, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    const share = { OTEL_TRACES_SAMPLER_ARG: '0.1', OTEL_SERVICE_NAME: 'gateway-eu' };
    expect(readEnvironment(env).tracing).toEqual({
      endpoint: 'http://collector:4318',
      serviceName: 'wagergate',
      share: 1,
    });
    expect(readEnvironment({ ...env, ...share }).tracing).toMatchObject({
      serviceName: 'gateway-eu',
      share: 0.1,
    });
  });

  it.for([
    ['LOG_READS_SAMPLE', '1.1'],
    ['LOG_READS_SAMPLE', 'half'],
    ['LOG_READS_SAMPLE', '-0.1'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector:4317'],
  ])('refuses %s=%s, naming the variable', ([name = '', value = '']) => {
    expect(() => readEnvironment({ ...REQUIRED, [name]: value })).toThrow(name);
  });
});
