import type { VariableSources } from './folder/checked-file.ts';
import type { GatewayConfig, OperatorConfig, OperatorFile } from './schema/schema.ts';

/** An operator in force, with the content of the file it was made from. */
export interface OperatorInForce {
  readonly source: OperatorFile;
  readonly config: OperatorConfig;
  readonly variables: VariableSources;
}

/** The configuration in force, with what the next one is derived from. */
export interface InForce {
  readonly gateway: GatewayConfig;
  readonly gatewayVariables: VariableSources;
  readonly operators: ReadonlyMap<string, OperatorInForce>;
  /** Ids of operators whose files are invalid and have no earlier version. */
  readonly invalidOperators: ReadonlySet<string>;
}
