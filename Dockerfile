# dbbench with every engine that CI runs: docker build -t dbbench . && docker run -v "$PWD:/runs" dbbench suite invoices --quick
FROM python:3.11-bookworm
COPY . /src
WORKDIR /src
RUN pip install --no-cache-dir -c .ci/constraints.txt . \
 && engines=$(dbbench engines --markdown | sed -n 's/^| `\([^`]*\)` .* | in CI |$/\1/p') \
 && apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev $(dbbench engines install --debian $engines) \
 && rm -rf /var/lib/apt/lists/* \
 && pip install --no-cache-dir -c .ci/constraints.txt ".[everything]" \
 && dbbench engines install --yes $engines
WORKDIR /runs
ENTRYPOINT ["dbbench"]
