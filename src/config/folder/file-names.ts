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
