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
