const YAML = /\.ya?ml$/i;

/** Whether a file of this name is read as configuration: `.yaml` or `.yml`, in any case. */
export function isYaml(path: string): boolean {
  return YAML.test(path);
}

/** The operator id of a file in `operators/`; undefined for others, such as dotfiles of editors and ConfigMaps. */
export function operatorOfFile(name: string): string | undefined {
  return name.startsWith('.') || !isYaml(name) ? undefined : name.replace(YAML, '');
}
