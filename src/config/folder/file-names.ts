const YAML = /\.ya?ml$/i;

/** Whether a file of this name is read as configuration: `.yaml` or `.yml`, in any case. */
export function isYaml(path: string): boolean {
  return YAML.test(path);
}

/**
 * The operator id that the name of a file in `operators/` stands for.
 * @returns undefined for other files; dotfiles belong to editors and ConfigMaps (`..data`)
 */
export function operatorOfFile(name: string): string | undefined {
  return name.startsWith('.') || !isYaml(name) ? undefined : name.replace(YAML, '');
}

/** Notes, and `lost+found` of a disk's root; any other name looks like an operator's file. */
const NO_OPERATOR = /^(?:readme.*|.*\.md|lost\+found)$/i;

/**
 * Whether a person may take a name in `operators/` for an operator's file although it is not read: `gamma.json`,
 * `gamma.yaml.bak`, `gamma.yml~`, or a folder `gamma`.
 */
export function isPassedOver(name: string): boolean {
  return !name.startsWith('.') && !isYaml(name) && !NO_OPERATOR.test(name);
}
