/// Builds the dashboard into `dist`: one page and hashed files under `assets/`, without inline script or style.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

const server = process.env.NACRE_ADDRESS ?? '127.0.0.1:8799';
const proxied = { target: `http://${server}`, changeOrigin: true };

export default defineConfig({
  base: './',
  plugins: [svelte()],
  // Else tests would get the Svelte that renders on a server, which has no effects.
  ...(process.env.VITEST ? { resolve: { conditions: ['browser'] } } : {}),
  build: {
    target: 'es2022',
    // Data addresses would need more than the content security policy allows.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
  test: { environment: 'jsdom', include: ['tests/**/*.test.ts'] },
});
