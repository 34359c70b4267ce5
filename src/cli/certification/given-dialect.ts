import type { YamlTree } from '../../config/folder/yaml-tree.ts';
import type { SettingProblem } from '../../config/problems.ts';
import { plain } from '../../lib/plain-text.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { UsageError } from '../failures.ts';

/** The possible paths to the items in the file, the longest first. */
const WAYS = [['wallet', 'dialect'], ['dialect'], []] as const;

/**
 * The items of a YAML file, either alone or inside an operator's file: read and checked as the gateway
 * would, variables included.
 *
 * @param folder the configuration's, from which variables may read files as well
 * @throws UsageError that says for each problem where it is and what to do
 */
export async function dialectIn(
  file: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Dialect> {
  // Imported here: the schemas take a quarter of a second that no other command should pay.
  const [{ checkTree }, { FileReader }, { describeProblem, problemIn }, { dialectSchema }] =
    await Promise.all([
      import('../../config/check.ts'),
      import('../../config/folder/files.ts'),
      import('../../config/problems.ts'),
      import('../../config/schema/schema.ts'),
    ]);
  const files = new FileReader();
  const read = files.read(file);
  if (!read.ok) throw new UsageError(`${plain(file)} ${read.reason}`);
  const tree = await treeOf(read.text, env, files, folder);
  const checked = checkTree(dialectSchema, await below(tree));
  if (checked.ok) return checked.value;
  const lines = checked.problems.map((problem) => describeProblem(problemIn(file, problem)));
  throw new UsageError(lines.map((line) => plain(line)).join('\n'));
}

async function treeOf(
  text: string,
  env: NodeJS.ProcessEnv,
  files: import('../../config/folder/files.ts').FileReader,
  folder: string,
): Promise<YamlTree> {
  const { SecretPlaces, secretFolders } = await import('../../config/folder/secret-folders.ts');
  const { createOperatorResolver, maskVariables } = await import(
    '../../config/folder/variables.ts'
  );
  const { parseYaml } = await import('../../config/folder/yaml-tree.ts');
  // As in operators' files: the author of this one must not be able to read the gateway's own secrets.
  const places = new SecretPlaces(secretFolders(env), folder);
  return parseYaml(maskVariables(text), createOperatorResolver(env, files, places));
}

/** The part of a file that contains the items; problems elsewhere in it do not matter here. */
async function below(tree: YamlTree): Promise<YamlTree> {
  if (tree.value === undefined) return tree;
  const { pathKey, pathOf } = await import('../../config/folder/yaml-tree.ts');
  const way = WAYS.find((one) => at(tree.value, one) !== undefined) ?? [];
  const isBelow = (path: SettingProblem['path'] | readonly string[]) =>
    way.every((name, depth) => path[depth] === name);
  const origins = [...tree.origins].flatMap(([key, origin]) => {
    const path = pathOf(key);
    return isBelow(path) ? [[pathKey(path.slice(way.length)), origin] as const] : [];
  });
  const problems = tree.problems.flatMap(({ path, reason }) =>
    isBelow(path) ? [{ path: path.slice(way.length), reason }] : [],
  );
  return { value: at(tree.value, way), origins: new Map(origins), problems };
}

function at(value: unknown, way: readonly string[]): unknown {
  return way.reduce<unknown>((part, name) => {
    if (typeof part !== 'object' || part === null) return undefined;
    return Object.entries(part).find(([key]) => key === name)?.[1];
  }, value);
}
