import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts, alertsFolder } from './support/alerts.ts';
import { hasPrometheus, promtool } from './support/prometheus-programs.ts';

const RULES = resolve(import.meta.dirname, 'rules');
const ROOT = resolve(import.meta.dirname, '../..');
const SEVERITIES = ['critical', 'warning'];
const withPrometheus = await hasPrometheus();

interface RuleTest {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

/** `rollback-dead` for `WagergateRollbackDead`. */
function fileNameOf(alert: string): string {
  return alert
    .replace(/^Wagergate/, '')
    .replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '-'}${letter.toLowerCase()}`);
}

describe.each(alerts())('the alert $alert', ({ alert, labels, annotations }) => {
  it('says how bad it is, what is wrong, and which section of which runbook to read', () => {
    expect(SEVERITIES).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    const [page = '', section] = annotations.runbook_url.split('#');
    const name = alert.replace(/^Wagergate/, '');
    expect(section).toBe(name.toLowerCase());
    expect(readFileSync(join(ROOT, page), 'utf8')).toMatch(new RegExp(`^## ${name}$`, 'm'));
  });

  it('is tested in both directions', () => {
    const text = readFileSync(join(RULES, `${fileNameOf(alert)}.yaml`), 'utf8');
    const expectations = (parse(text) as RuleTest).tests.flatMap((one) => one.alert_rule_test);
    const own = expectations.filter(({ alertname }) => alertname === alert);
    expect(own.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    expect(own.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
    expect(own).toHaveLength(expectations.length);
  });
});

it('count events in whole numbers: Prometheus only estimates how much a counter grew', () => {
  const estimated = alerts().filter(
    ({ expr, annotations }) =>
      expr.includes('increase(') && annotations.summary.includes('$value | humanize }}'),
  );
  expect(estimated.map(({ alert }) => alert)).toEqual([]);
});

describe.skipIf(!withPrometheus)('promtool', () => {
  it('accepts the rules', async () => {
    const files = readdirSync(alertsFolder).map((name) => join(alertsFolder, name));
    expect(await promtool(['check', 'rules', '--lint-fatal', ...files])).toMatchObject({ code: 0 });
  });

  it('finds that each holds', async () => {
    const { code, output } = await promtool(['test', 'rules', ...readdirSync(RULES)], {
      cwd: RULES,
    });
    expect(code, output).toBe(0);
  });
});
