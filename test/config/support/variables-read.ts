import { readEnvironment } from '../../../src/config/environment/environment.ts';

/** With these, every further variable is read as well. */
const SET: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://x/y',
  REDIS_URL: 'redis://x',
  OIDC_ISSUER: 'https://issuer.example',
  OIDC_CLIENT_ID: 'console',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
};

/** The names of all environment variables that a gateway reads at its start. */
export function variablesRead(): ReadonlySet<string> {
  const read = new Set<string>();
  const env = new Proxy<Record<string, string>>(SET, {
    get: (target, name) => {
      read.add(String(name));
      return target[String(name)];
    },
  });
  readEnvironment(env);
  return read;
}
