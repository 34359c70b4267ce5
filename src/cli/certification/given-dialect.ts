import type { YamlTree } from '../../config/folder/yaml-tree.ts';
import type { SettingProblem } from '../../config/problems.ts';
import { plain } from '../../lib/plain-text.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { UsageError } from '../failures.ts';

/**
 * The items of a YAML file, alone or inside an operator's file, checked as the gateway would.
 * @param folder the configuration's, for variables @throws UsageError that names each problem
 */
export async function dialectIn(
  file: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Dialect> {
  // Imported here: the schemas take a quarter of a second that no other command should pay.
  const [{ z }, { checkTree }, { FileReader }, { describeProblem, problemIn }, { dialectSchema }] =
    await Promise.all([
      import('zod'),
      import('../../config/check.ts'),
      import('../../config/folder/files.ts'),
      import('../../config/problems.ts'),
      import('../../config/schema/schema.ts'),
    ]);
  const files = new FileReader();
  const read = files.read(file);
  if (!read.ok) throw new UsageError(`${plain(file)} ${read.reason}`);
  const tree = await treeOf(read.text, env, files, folder);
  const ofOperator = z.object({ wallet: z.object({ dialect: dialectSchema }) });
  const checked = isOperators(tree.value)
    ? checkTree(
        ofOperator.transform(({ wallet }) => wallet.dialect),
        withoutOthers(tree),
      )
    : checkTree(dialectSchema, tree);
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

function isOperators(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'wallet');
}

/** Problems elsewhere in an operator's file do not matter here. */
function withoutOthers(tree: YamlTree): YamlTree {
  const isOfDialect = ({ path }: SettingProblem) => path[0] === 'wallet' && path[1] === 'dialect';
  return { ...tree, problems: tree.problems.filter(isOfDialect) };
}
