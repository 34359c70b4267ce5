import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER } from '../../../grafana/src/dashboards.ts';

export interface Target {
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface PanelFile {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly noValue: string;
      readonly decimals?: number;
      readonly mappings?: readonly { readonly type: string; readonly options: unknown }[];
      readonly thresholds: { readonly steps: readonly unknown[] };
    };
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options: unknown };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
  readonly options: { readonly textMode?: string };
  readonly targets: readonly Target[];
}

export interface BoardFile {
  readonly uid: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly links: readonly unknown[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly hide?: number;
    }[];
  };
  readonly panels: readonly PanelFile[];
}

/** The committed dashboards, which Grafana reads. */
export function boards(): readonly BoardFile[] {
  return readdirSync(FOLDER).map(
    (name): BoardFile => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')),
  );
}

/** The panels that show data. */
export function panelsOf({ panels }: BoardFile): readonly PanelFile[] {
  return panels.filter(({ type }) => type !== 'row');
}
