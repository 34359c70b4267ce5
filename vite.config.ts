import { defineConfig } from 'vite';

/** The console's pages: `src/console/` becomes `dist/console/`, which the internal listener serves. */
export default defineConfig({
  root: 'src/console',
  base: '/console/',
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // Small files of their own: the content security policy takes no code from within a page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      // Packages mark what a server must not render; here nothing renders on a server.
      onLog: (level, log, pass) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') pass(level, log);
      },
    },
  },
  // `npx vite`: pages from the sources, answers from a gateway that runs already.
  server: {
    proxy: { '/admin': process.env.CONSOLE_ADMIN_URL ?? 'http://127.0.0.1:9090' },
  },
});
