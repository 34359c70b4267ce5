const YAML = /\.ya?ml$/i;

/** Whether a file of this name is read as configuration: `.yaml` or `.yml`, in any case. */
export function isYaml(path: string): boolean {
  return YAML.test(path);
}

/**
 * The operator that a file in `operators/` is of, by its name.
 * @returns undefined for what is no operator's file; dotfiles are editors' and a ConfigMap's own (`..data`)
 */
export function operatorOfFile(name: string): string | undefined {
  return name.startsWith('.') || !isYaml(name) ? undefined : name.replace(YAML, '');
}

/** Notes, and what the root of a disk brings along; what else stands there looks like an operator's file. */
const NO_OPERATOR = /^(?:readme.*|.*\.md|lost\+found)$/i;

/**
 * Whether somebody may believe that a name in `operators/` is an operator's: `gamma.json`, `gamma.yaml.bak`,
 * `gamma.yml~`, or a folder `gamma`. None of them is read.
 */
export function isPassedOver(name: string): boolean {
  return !name.startsWith('.') && !isYaml(name) && !NO_OPERATOR.test(name);
}
