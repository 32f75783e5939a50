# ohr with what its demo needs: Tesseract, a small dense retriever, figures and reports. It needs no network when it runs.
#
#   docker build -t ohr .
#   docker run --rm ohr                                                              # the demo
#   docker run --rm -v "$PWD:/study" --user "$(id -u):$(id -g)" ohr run study.yaml   # a study in this folder
FROM python:3.11-slim-bookworm AS build
# git tells the build which commit it is; Debian deletes older versions of packages, so none is named
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/ohr
ENV PATH=/opt/ohr/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
# before the sources, so that a change of ohr does not install torch again
COPY constraints.txt ./
RUN pip install -c constraints.txt torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
COPY . .
RUN pip install -c constraints.txt ".[demo]" && ohr --version

FROM python:3.11-slim-bookworm
# programs that models write run behind libseccomp's filter: see docs/sandbox.md
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libseccomp2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 ohr \
    && install --directory --owner=ohr --mode=777 /study
COPY --from=build /opt/ohr /opt/ohr
# caches where any user that `--user` names may write
ENV PATH=/opt/ohr/bin:$PATH XDG_CACHE_HOME=/tmp/cache MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /study
USER 1000
ENTRYPOINT ["ohr"]
CMD ["demo"]
