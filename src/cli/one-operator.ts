import { describeProblem } from '../config/problems.ts';
import type { Configuration, OperatorConfig } from '../config/schema.ts';
import { loadValid, type PartlyLoadedFolder } from './configuration.ts';
import { CommandFailed } from './failures.ts';
import { plain } from './plain-text.ts';
import { unknownOperator } from './suggestions.ts';

/**
 * One operator of the configuration, whatever is wrong with the others.
 * @throws CommandFailed when its own file or `gateway.yaml` is not valid
 * @throws UsageError when there is no such operator
 */
export async function loadOperator(
  env: NodeJS.ProcessEnv,
  option: string | undefined,
  id: string,
): Promise<{ readonly operator: OperatorConfig; readonly configuration: Configuration }> {
  return operatorOf(await loadValid(env, option), id);
}

/** @throws as `loadOperator` does */
export function operatorOf(
  { folder, configuration, problems }: PartlyLoadedFolder,
  id: string,
): { readonly operator: OperatorConfig; readonly configuration: Configuration } {
  const operator = configuration?.operators.get(id);
  if (configuration !== undefined && operator !== undefined) return { operator, configuration };
  const inTheWay =
    configuration === undefined
      ? problems
      : problems.filter(({ file }) => /^operators\/(.*)\.ya?ml$/.exec(file)?.[1] === id);
  const [first] = inTheWay;
  if (first === undefined) throw unknownOperator(id, [...(configuration?.operators.keys() ?? [])]);
  throw new CommandFailed(
    `${folder} is not valid (${plain(describeProblem(first))}): see all by \`wagergate config check\``,
  );
}
