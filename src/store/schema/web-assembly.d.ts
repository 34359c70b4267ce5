/** The parts that we use of a global that TypeScript only knows in browsers. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Readonly<Record<string, object>>,
  ): Promise<{ instance: { exports: Readonly<Record<string, unknown>> } }>;
};
