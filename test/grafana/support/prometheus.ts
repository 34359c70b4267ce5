import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chooseServerFolder } from '../../../tools/embedded/folder.ts';
import { type EmbeddedServer, startServer } from '../../../tools/embedded/server.ts';
import { prometheusProgram } from './prometheus-programs.ts';

export interface PrometheusOptions {
  /** `host:port` from which `/metrics` is scraped. */
  readonly target: string;
  readonly scrapeIntervalMs: number;
  readonly ruleFiles: readonly string[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** The values over the requested time, oldest first; `NaN` if a query returns that. */
  readonly values: readonly number[];
}

/** A test's own real Prometheus, with its data in a temporary folder. */
export interface Prometheus {
  /** @throws Error with Prometheus's own message if the query is wrong */
  range(query: string, lastSeconds: number): Promise<readonly Sample[]>;
  now(query: string): Promise<readonly Sample[]>;
  /** Rules that could not be evaluated, with the reason. */
  rulesInError(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const file = await prometheusProgram('prometheus');
  const { path } = await chooseServerFolder('prometheus');
  // As ourselves: another user may not be able to read the program.
  const folder = { path, user: undefined };
  const configuration = join(path, 'prometheus.yml');
  const server = await startServer({
    name: 'Prometheus',
    folder,
    prepare: () => writeFile(configuration, configurationText(options)),
    command: (port) => ({
      file,
      args: [
        `--config.file=${configuration}`,
        `--storage.tsdb.path=${join(path, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      user: undefined,
      stopSignal: 'SIGKILL',
    }),
    url: (port) => `http://127.0.0.1:${port}`,
    isReady: (port) => answersReady(port),
    restartSignal: 'SIGTERM',
  });
  return clientOf(server);
}

function configurationText({ target, scrapeIntervalMs, ruleFiles }: PrometheusOptions): string {
  const interval = `${scrapeIntervalMs}ms`;
  return stringify({
    global: { scrape_interval: interval, evaluation_interval: interval, scrape_timeout: interval },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: 'wagergate', static_configs: [{ targets: [target] }] }],
  });
}

async function answersReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok;
  } catch {
    // Nobody listens yet: the caller tries again.
    return false;
  }
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
    readonly groups: readonly {
      readonly rules: readonly { readonly name: string; readonly lastError?: string }[];
    }[];
  };
}

function clientOf(server: EmbeddedServer): Prometheus {
  const ask = async (path: string, parameters: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      method: path === 'rules' ? 'GET' : 'POST',
      ...(path !== 'rules' && { body: new URLSearchParams(parameters) }),
    });
    const answer = (await response.json()) as Answer;
    if (answer.status !== 'success') throw new Error(answer.error ?? `HTTP ${response.status}`);
    return answer.data;
  };
  return {
    range: async (query, lastSeconds) => {
      const end = Date.now() / 1000;
      const times = { start: `${end - lastSeconds}`, end: `${end}`, step: '1' };
      return samplesOf(await ask('query_range', { query, ...times }));
    },
    now: async (query) => samplesOf(await ask('query', { query })),
    rulesInError: async () => {
      const { groups } = await ask('rules');
      return groups
        .flatMap(({ rules }) => rules)
        .filter(({ lastError = '' }) => lastError !== '')
        .map(({ name, lastError }) => `${name}: ${lastError}`);
    },
    stop: () => server.stop(),
  };
}

function samplesOf({ result }: Answer['data']): readonly Sample[] {
  return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
    labels: metric,
    values: values.map(([, text]) => Number(text)),
  }));
}
